//! The same scene in other words, by another formulation, with another step.

use crate::facts;
use crate::random::Random;
use crate::run::{Placed, Trace, run};
use crate::transform::Change;
use signorini::scene::{Formulation, Scene};

/// The disturbance against which differences are measured.
const DISTURBANCE: f64 = 1e-10;
/// A disturbance in another direction may grow faster.
const LUCK: f64 = 10.0;
/// Where disturbances have grown to this, in sizes and radians, nothing is compared any more: what comes then is chance.
const LOST: f64 = 1e-4;
/// Motions that are less stable than this say nothing about the step: another step is a disturbance, too.
const MOST_GROWTH: f64 = 1e4;

/// How far disturbed runs have come from the first one, at every instant: the largest so far, in sizes and radians.
#[derive(Debug, Clone)]
pub struct Spread(Vec<f64>);

impl Spread {
    /// Two disturbed runs.
    pub fn find(scene: &Scene, trace: &Trace) -> Self {
        let mut largest = vec![DISTURBANCE; trace.instants.len()];
        for k in 0..2 {
            let Ok(other) = run(&disturbed(scene, k)) else { continue };
            for (most, apart) in
                largest.iter_mut().zip(apart(scene, trace, &other, &|i| other.instants[i].bodies.clone()))
            {
                *most = most.max(apart);
            }
        }
        Self(largest)
    }

    fn growth(&self) -> f64 {
        self.0.last().copied().unwrap_or(f64::INFINITY) / DISTURBANCE
    }
}

/// The scene with everything that it starts with changed in the tenth digit.
fn disturbed(scene: &Scene, which: u64) -> Scene {
    let mut random = Random::new(0x6469_7374 + which);
    let (mut s, size) = (scene.clone(), facts::size(scene));
    let mut nudge = |x: &mut f64, unit: f64| *x += DISTURBANCE * unit * random.between(-1.0, 1.0);
    for b in &mut s.body {
        b.position.iter_mut().flatten().for_each(|x| nudge(x, size));
        b.orientation.iter_mut().flatten().for_each(|x| nudge(x, 1.0));
        for v in [&mut b.velocity, &mut b.angular_velocity].into_iter().flatten() {
            let fastest = v.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            v.iter_mut().for_each(|x| nudge(x, fastest));
        }
    }
    // Coordinates of a closed loop would no longer fit; those that are left out follow.
    if !has_loop(scene) {
        for j in &mut s.joint {
            let unit = if j.kind == signorini::scene::JointKind::Prismatic { size } else { 1.0 };
            j.q.iter_mut().flatten().for_each(|x| nudge(x, unit));
            j.v.iter_mut().flatten().for_each(|x| {
                let rate = x.abs();
                nudge(x, rate);
            });
        }
    }
    s
}

/// Joints between bodies are as many as bodies, or more.
fn has_loop(scene: &Scene) -> bool {
    scene.joint.len() >= facts::moving(scene).len() && scene.joint.iter().all(|j| j.parent != "ground")
}

/// The largest difference so far, at every instant of the first run that the other one reached too.
fn apart(scene: &Scene, trace: &Trace, other: &Trace, seen: &dyn Fn(usize) -> Vec<Placed>) -> Vec<f64> {
    let size = facts::size(scene);
    let n = trace.instants.len().min(other.instants.len());
    let mut most = 0.0_f64;
    let differences = (0..n).map(|i| {
        for (a, b) in trace.instants[i].bodies.iter().zip(&seen(i)) {
            let turned = (a.axes[0] - b.axes[0]).norm().max((a.axes[1] - b.axes[1]).norm());
            let d = ((a.at - b.at).norm() / size).max(turned);
            most = if d.is_nan() { f64::INFINITY } else { most.max(d) };
        }
        most
    });
    differences.collect()
}

/// The first instant at which two runs differ by more than disturbances do, and how much they do in the end.
fn report(spread: &Spread, apart: &[f64], trace: &Trace) -> Option<String> {
    let known = spread.0.iter().take_while(|spread| **spread < LOST);
    let first = apart.iter().zip(known).position(|(found, allowed)| *found > LUCK * allowed)?;
    let (time, last) = (trace.instants[first].time, apart.len() - 1);
    Some(format!(
        "{:.2e} apart at t = {time:.5}, where disturbances of 1e-10 are {:.2e}; in the end {:.2e} and {:.2e}",
        apart[first], spread.0[first], apart[last], spread.0[last]
    ))
}

pub(super) fn changed(change: Change, scene: &Scene, trace: &Trace, spread: &Spread) -> Option<String> {
    let changed = change.apply(scene)?;
    let other = match run(&changed) {
        Ok(other) => other,
        Err(error) => return Some(format!("refused: {error}")),
    };
    let apart = apart(scene, trace, &other, &|i| change.back(scene, &other.instants[i]));
    report(spread, &apart, trace)
}

pub(super) fn formulated(formulation: Formulation, scene: &Scene, trace: &Trace, spread: &Spread) -> Option<String> {
    let mut scene = scene.clone();
    scene.solver.formulation = formulation;
    let other = match run(&scene) {
        Ok(other) => other,
        Err(error) => return Some(format!("refused: {error}")),
    };
    let apart = apart(&scene, trace, &other, &|i| other.instants[i].bodies.clone());
    report(spread, &apart, trace)
}

/// With steps of h, h/2, h/4 and h/8: the last two must not differ by more than those before did. A motion that an impact or a disturbance
/// sends elsewhere is not asked.
pub(super) fn refined(scene: &Scene, trace: &Trace, spread: &Spread) -> Option<String> {
    let h = scene.time.step?;
    if spread.growth() > MOST_GROWTH || facts::restitution(scene) > 0.0 {
        return None;
    }
    let mut runs = vec![trace.clone()];
    for k in 1..4 {
        let mut finer = scene.clone();
        finer.time.step = Some(h / f64::from(1 << k));
        runs.push(run(&finer).ok()?);
    }
    let size = facts::size(scene);
    let n = (0..4).map(|k| (runs[k].instants.len() - 1) >> k).min()?;
    let difference = |k: usize| -> f64 {
        let at = |k: usize, i: usize| &runs[k].instants[i << k].bodies;
        let pairs = (0..=n).flat_map(|i| at(k, i).iter().zip(at(k + 1, i)));
        pairs.map(|(a, b)| (a.at - b.at).norm() / size).fold(0.0, f64::max)
    };
    let way = trace.instants[..=n].iter().flat_map(|i| i.bodies.iter().zip(&trace.instants[0].bodies));
    let way = way.map(|(a, b)| (a.at - b.at).norm() / size).fold(0.0, f64::max);
    let [first, second, third] = [difference(0), difference(1), difference(2)];
    // A thousandth of the way is not seen.
    (third > first.max(second) && third > 1e-3 * way)
        .then(|| format!("steps of h, h/2, h/4, h/8 are {first:.2e}, {second:.2e}, {third:.2e} apart"))
}
