//! Laws of mechanics that one run is held against.

use crate::facts;
use crate::math::vector;
use crate::run::{Instant, Trace};
use nalgebra::Vector3;
use signorini::scene::{Restitution, Scene};

/// Rounding of sums over some bodies and some hundred steps.
const ROUNDING: f64 = 1e-9;
/// A step is of second order in the angle hω by which bodies turn in it; beyond a tenth of a radian it need not be accurate, but it must
/// still not gain more than a hundredth of the energy at play.
const MOST: f64 = 0.01;

/// What a method of second order may err by: (hω)², at most [`MOST`]; nothing but rounding where bodies turn only as they did before.
fn second_order(scene: &Scene, trace: &Trace) -> f64 {
    let is_exact = facts::moving(scene).iter().all(|b| facts::is_round(b)) && scene.joint.is_empty();
    let turn = scene.time.step.unwrap_or(0.0) * trace.fastest_spin();
    if is_exact { ROUNDING } else { (turn * turn).clamp(ROUNDING, MOST) }
}

/// Kinetic energy at its largest and the way between the extremes of the potential: what there is to lose and gain.
fn energy_scale(trace: &Trace) -> f64 {
    let kinetic = trace.instants.first().map_or(0.0, |i| i.kinetic);
    let fold = |f: fn(f64, f64) -> f64, start| trace.instants.iter().map(|i| i.potential).fold(start, f);
    let span = fold(f64::max, f64::NEG_INFINITY) - fold(f64::min, f64::INFINITY);
    kinetic + span
}

/// Energy never rises above what it was, but for what strikes by Newton's law with friction are reported to have added (without friction
/// no law adds any), and for lifting bodies out of the overlap in which they started.
pub(super) fn energy(scene: &Scene, trace: &Trace) -> Option<String> {
    let (first, before) = (trace.instants.first()?, trace.reports.first()?);
    if facts::is_driven(scene) {
        return None;
    }
    let start = first.kinetic + first.potential;
    let weight = trace.mass * vector(scene.gravity).norm();
    let lift = 2.0 * weight * before.penetration * first.bodies.len() as f64;
    let allowed = second_order(scene, trace) * energy_scale(trace) + lift + ROUNDING * weight * facts::size(scene);
    let may_gain = !facts::is_smooth(scene) && scene.solver.restitution == Restitution::Newton;
    let mut gained = 0.0;
    let mut worst: Option<(f64, &Instant)> = None;
    for (instant, report) in trace.instants[1..].iter().zip(&trace.reports) {
        gained += if may_gain { report.impact_energy_gain } else { 0.0 };
        let rise = instant.kinetic + instant.potential - start - gained;
        if (rise > allowed || rise.is_nan()) && worst.is_none_or(|(most, _)| rise > most) {
            worst = Some((rise, instant));
        }
    }
    let scale = energy_scale(trace);
    worst.map(|(rise, at)| {
        format!("rises by {rise:.3e} at t = {:.5}; at play {scale:.3e}, allowed {allowed:.1e}", at.time)
    })
}

/// Bodies that start within each other are moved apart by no more than it takes: by the overlap, passed on from body to body, and by levers.
pub(super) fn leap(scene: &Scene, trace: &Trace) -> Option<String> {
    const LEVERS: f64 = 3.0;
    let [before, after] = trace.instants.get(..2)? else { return None };
    let h = after.time - before.time;
    let fall = vector(scene.gravity).norm() * h * h;
    let speed = before.bodies.iter().map(|b| b.velocity.norm() + facts::size(scene) * b.spin.norm()).fold(0.0, worse);
    let deepest: Vec<f64> = trace.reports.iter().take(2).map(|r| r.penetration).collect();
    if let [first, second] = deepest[..]
        && first > 0.0
        && second > first + 2.0 * h * speed + fall
    {
        return Some(format!("overlap of {first:.2e} becomes {second:.2e}"));
    }
    let overlap = LEVERS * trace.reports.first()?.penetration * before.bodies.len() as f64;
    let pairs = before.bodies.iter().zip(&after.bodies);
    let beyond = pairs.map(|(a, b)| {
        let fastest = a.velocity.norm().max(b.velocity.norm());
        (b.at - a.at).norm() - (h * fastest * (1.0 + ROUNDING) + fall + overlap)
    });
    let most = beyond.fold(0.0, worse);
    (overlap > 0.0 && most > 0.0).then(|| format!("moves by {most:.2e} more than {overlap:.2e} of overlap explains"))
}

/// What momenta are measured by: those of the bodies without their signs.
fn momentum_scale(scene: &Scene, trace: &Trace) -> (f64, f64) {
    let size = facts::size(scene);
    let Some(first) = trace.instants.first() else { return (0.0, 0.0) };
    // Fast bodies may be light; the mean mass is enough for a bound that only rounding has to pass.
    let mass = trace.mass;
    let fastest = first.bodies.iter().map(|b| b.velocity.norm() + size * b.spin.norm()).fold(0.0, f64::max);
    let farthest = trace.instants.iter().flat_map(|i| &i.bodies).map(|b| b.at.norm()).fold(0.0, f64::max);
    (mass * fastest, mass * fastest * (farthest + size))
}

fn drift(trace: &Trace, which: usize) -> f64 {
    let Some(first) = trace.instants.first() else { return 0.0 };
    trace.instants.iter().map(|i| (i.momentum[which] - first.momentum[which]).norm()).fold(0.0, worse)
}

/// The larger; what is not a number is the largest.
fn worse(a: f64, b: f64) -> f64 {
    if b.is_nan() { f64::INFINITY } else { a.max(b) }
}

pub(super) fn linear_momentum(scene: &Scene, trace: &Trace) -> Option<String> {
    let allowed = ROUNDING * momentum_scale(scene, trace).0;
    let found = drift(trace, 0);
    // Joints carry velocities along by projections, whose momentum is that of the step's order.
    let allowed =
        if scene.joint.is_empty() { allowed } else { allowed.max(second_order(scene, trace) * allowed / ROUNDING) };
    (facts::is_isolated(scene) && found > allowed).then(|| format!("changes by {found:.3e}, allowed {allowed:.1e}"))
}

pub(super) fn angular_momentum(scene: &Scene, trace: &Trace) -> Option<String> {
    let allowed = second_order(scene, trace) * momentum_scale(scene, trace).1;
    let found = drift(trace, 1);
    (facts::is_isolated(scene) && found > allowed).then(|| format!("changes by {found:.3e}, allowed {allowed:.1e}"))
}

/// Forces without friction go through the middle of a ball: no ball turns in another way than at the start.
pub(super) fn spin(scene: &Scene, trace: &Trace) -> Option<String> {
    if !facts::is_smooth(scene) {
        return None;
    }
    let first = trace.instants.first()?;
    let fastest = trace.instants.iter().flat_map(|i| &i.bodies).map(|b| b.velocity.norm()).fold(0.0, f64::max);
    let mut worst = (0.0, String::new());
    for (k, body) in facts::moving(scene).into_iter().enumerate() {
        if !facts::is_ball(body) || !facts::is_free(scene, body) {
            continue;
        }
        let radius = facts::reach(&body.shape[0].geometry);
        let turned = trace.instants.iter().map(|i| (i.bodies[k].spin - first.bodies[k].spin).norm()).fold(0.0, worse);
        let share = turned * radius / fastest.max(f64::MIN_POSITIVE);
        if share > ROUNDING && share > worst.0 {
            worst = (share, format!("`{}` gets {turned:.3e} rad per unit of time", body.name));
        }
    }
    (worst.0 > 0.0).then_some(worst.1)
}

/// Bodies that were put on each other stay: half a hundredth of a size is more than the gaps that they start with.
pub(super) fn rest(scene: &Scene, trace: &Trace) -> Option<String> {
    if scene.title.as_deref() != Some("stack") {
        return None;
    }
    let (first, size) = (trace.instants.first()?, facts::size(scene));
    let n = first.bodies.len() as f64;
    let moved = |i: &Instant, k: usize| (i.bodies[k].at - first.bodies[k].at).norm();
    let all = (0..first.bodies.len()).map(|k| trace.instants.iter().map(|i| moved(i, k)).fold(0.0, worse));
    let most = all.fold(0.0, worse);
    (most > 0.005 * n * size).then(|| format!("moved by {:.3e} sizes", most / size))
}

/// The load moves with the hand.
pub(super) fn grasp(scene: &Scene, trace: &Trace) -> Option<String> {
    if scene.title.as_deref() != Some("grasp") {
        return None;
    }
    let place = |name: &str| facts::moving(scene).iter().position(|b| b.name == name);
    let (load, hand) = (place("load")?, place("hand")?);
    let between = |i: &Instant| -> Vector3<f64> { i.bodies[load].at - i.bodies[hand].at };
    let (first, size) = (trace.instants.first()?, facts::size(scene));
    let most = trace.instants.iter().map(|i| (between(i) - between(first)).norm()).fold(0.0, worse);
    (most > 0.01 * size).then(|| format!("the load slips by {:.3e} sizes", most / size))
}

/// Iterations of the contact solver, by which work is counted.
pub(super) fn work(trace: &Trace) -> Option<String> {
    let mut counts: Vec<u32> = trace.reports.iter().filter(|r| r.contacts > 0).map(|r| r.iterations).collect();
    counts.sort_unstable();
    let (most, median) = (*counts.last()?, counts[counts.len() / 2]);
    (most > 1000 * (median + 1)).then(|| format!("{most} iterations in one step, {median} in the middle one"))
}
