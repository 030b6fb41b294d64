//! Nothing goes through anything.
//!
//! **Problem.** Judge the motion without the engine's own search for contacts.
//!
//! **Method.** Every body has a core: half of the largest ball around its origin that lies within its shape, where that is known. Cores may
//! never meet, on the straight way between the ends of a step, however fast; the middle of a body may not cross the ground.
//! What started within something else is left out.
//!
//! **Cost.** All pairs, once per step: scenes are small.
//!
//! **Fails when** bodies overlap by less than half: that is a matter of depth, which reports measure.
//!
//! **Checked by** `cases/campaign/tests/judge.rs`.

use crate::facts;
use crate::run::{Placed, Trace};
use nalgebra::{UnitQuaternion, Vector3};
use signorini::scene::{Body, GROUND, Geometry, Joint, Scene, Shape};

pub(super) fn passage(scene: &Scene, trace: &Trace) -> Option<String> {
    if trace.reports.first()?.penetration > 0.05 * facts::size(scene) {
        return None;
    }
    let bodies = facts::moving(scene);
    let cores: Vec<Option<f64>> = bodies.iter().map(|b| core(b)).collect();
    let solids: Vec<Solid> = facts::ground(scene).filter_map(Solid::build).collect();
    for (pair, report) in trace.instants.windows(2).zip(&trace.reports) {
        let (before, after) = (&pair[0].bodies, &pair[1].bodies);
        for (i, a) in bodies.iter().enumerate() {
            if a.shape.is_empty() {
                continue;
            }
            let is_held = joined(scene, GROUND, &a.name);
            if !is_held && solids.iter().any(|solid| solid.is_crossed(&before[i].at, &after[i].at)) {
                return Some(format!("`{}` is in the ground at t = {:.5}", a.name, report.time));
            }
            for (j, b) in bodies.iter().enumerate().take(i) {
                let (Some(r), Some(s)) = (cores[i], cores[j]) else { continue };
                let apart = closest([&before[i], &before[j]], [&after[i], &after[j]]);
                if apart < (r + s) / 2.0 && !joined(scene, &a.name, &b.name) {
                    return Some(format!("`{}` is in `{}` at t = {:.5}", a.name, b.name, report.time));
                }
            }
        }
    }
    None
}

fn core(body: &Body) -> Option<f64> {
    let [only] = body.shape.as_slice() else { return None };
    if body.com.is_none() && only.position == [0.0; 3] { facts::core(&only.geometry) } else { None }
}

/// Whether a joint holds both, or one joint lies between them: these may not touch, or start close.
fn joined(scene: &Scene, a: &str, b: &str) -> bool {
    let holds = |j: &Joint| (j.parent == a && j.child == b) || (j.parent == b && j.child == a);
    scene.joint.iter().any(holds)
}

/// How near two bodies come to each other on straight ways.
fn closest(before: [&Placed; 2], after: [&Placed; 2]) -> f64 {
    let (from, to) = (before[0].at - before[1].at, after[0].at - after[1].at);
    let way = to - from;
    let t = if way.norm_squared() > 0.0 { (-from.dot(&way) / way.norm_squared()).clamp(0.0, 1.0) } else { 0.0 };
    (from + way * t).norm()
}

/// A piece of the ground that the middles of bodies are kept out of.
struct Solid {
    position: Vector3<f64>,
    turn: UnitQuaternion<f64>,
    form: Form,
}

enum Form {
    Plane,
    /// Half lengths of edges, and the middle.
    Box(Vector3<f64>, Vector3<f64>),
    Heights {
        size: [f64; 2],
        columns: usize,
        heights: Vec<f64>,
    },
}

impl Solid {
    fn build(shape: &Shape) -> Option<Self> {
        let (position, turn) = facts::pose(shape);
        let form = match &shape.geometry {
            Geometry::HalfSpace => Form::Plane,
            Geometry::Box { size } => Form::Box(Vector3::from(*size) / 2.0, Vector3::zeros()),
            Geometry::Mesh { file, scale, .. } if file.ends_with("plate.obj") => {
                Form::Box(Vector3::new(1.0, 1.0, 0.0005) * scale.unwrap_or(1.0), Vector3::zeros())
            }
            // Hulls of eight corners are boxes along their axes here.
            Geometry::ConvexHull { points, .. } if points.len() == 8 => {
                let fold = |f: fn(f64, f64) -> f64, start: f64, k: usize| points.iter().map(|p| p[k]).fold(start, f);
                let low = Vector3::from_fn(|k, _| fold(f64::min, f64::INFINITY, k));
                let high = Vector3::from_fn(|k, _| fold(f64::max, f64::NEG_INFINITY, k));
                Form::Box((high - low) / 2.0, (high + low) / 2.0)
            }
            Geometry::HeightField { size, columns, heights } => {
                Form::Heights { size: *size, columns: *columns, heights: heights.clone() }
            }
            _ => return None,
        };
        Some(Self { position, turn, form })
    }

    /// Whether a straight way goes through it, or ends in it.
    fn is_crossed(&self, from: &Vector3<f64>, to: &Vector3<f64>) -> bool {
        let local = |p: &Vector3<f64>| self.turn.inverse() * (p - self.position);
        let (from, to) = (local(from), local(to));
        match &self.form {
            Form::Plane => to.z < 0.0,
            Form::Box(half, middle) => crosses_box(&(from - middle), &(to - middle), half),
            Form::Heights { size, columns, heights } => {
                to.z < lowest_near(&to, size, *columns, heights).unwrap_or(f64::NEG_INFINITY)
            }
        }
    }
}

/// By the interval of the way that lies between each pair of faces.
fn crosses_box(from: &Vector3<f64>, to: &Vector3<f64>, half: &Vector3<f64>) -> bool {
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for k in 0..3 {
        let way = to[k] - from[k];
        if way == 0.0 {
            if from[k].abs() >= half[k] {
                return false;
            }
            continue;
        }
        let (a, b) = ((-half[k] - from[k]) / way, (half[k] - from[k]) / way);
        enter = enter.max(a.min(b));
        leave = leave.min(a.max(b));
    }
    enter < leave
}

/// The lowest corner of the cell over which a point is, where it is over one.
fn lowest_near(p: &Vector3<f64>, size: &[f64; 2], columns: usize, heights: &[f64]) -> Option<f64> {
    let rows = heights.len() / columns.max(1);
    let cell = |x: f64, extent: f64, n: usize| -> Option<usize> {
        let place = (x / extent + 0.5) * (n - 1) as f64;
        (place >= 0.0 && place < (n - 1) as f64).then_some(place as usize)
    };
    let (i, j) = (cell(p.x, size[0], columns)?, cell(p.y, size[1], rows)?);
    let at = |i: usize, j: usize| heights.get(j * columns + i).copied().unwrap_or(0.0);
    Some([at(i, j), at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)].into_iter().fold(f64::INFINITY, f64::min))
}
