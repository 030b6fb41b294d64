//! Which series a report shows first: what moves, what is driven, energies, forces, and how well it was computed. Nothing that stands still,
//! no empty panel.

use super::series::{Quantity, Series};
use crate::model::Model;
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// Lines that can be told apart by colour.
const MAX_LINES: usize = 6;

/// Kinetic and potential energy together.
pub(super) const SUM: &str = "kinetic + potential";

/// Series that share an axis.
#[derive(Debug, PartialEq, Serialize)]
pub struct Panel {
    /// What they are.
    pub title: String,
    /// Places of the series.
    pub series: Vec<usize>,
    /// Whether the axis is logarithmic.
    pub is_log: bool,
}

/// The first choice.
pub(super) fn choose(series: &[Series], model: &Model, duration: f64) -> Vec<Panel> {
    let joints: HashMap<&str, bool> =
        model.joints().iter().map(|j| (j.name.as_str(), !j.fittings.motors.is_empty())).collect();
    // Rounding of what stands still is no motion.
    let moves = |s: &Series| s.moves() && s.change() > ROUNDING * scale_of(s.quantity, model, duration);
    let is_joint = |s: &Series| joints.contains_key(s.owner.as_str()) && s.name.rsplit_once('.').is_some();
    let pick = |fits: &dyn Fn(&Series) -> bool| -> Vec<usize> {
        let mut found: Vec<usize> = (0..series.len()).filter(|&i| moves(&series[i]) && fits(&series[i])).collect();
        // Driven joints first, then what changes most; of equals the first of the scene.
        let is_driven = |i: usize| joints.get(series[i].owner.as_str()).copied().unwrap_or(false);
        found.sort_by(|&a, &b| is_driven(b).cmp(&is_driven(a)).then(series[b].change().total_cmp(&series[a].change())));
        // Beside what moves, the rounding of what stands still is no line.
        let largest = found.iter().map(|&i| series[i].change()).fold(0.0, f64::max);
        found.retain(|&i| series[i].change() > 1e-6 * largest);
        found.truncate(MAX_LINES);
        found
    };
    let named = |names: &[&str]| -> Vec<usize> {
        let found = names.iter().filter_map(|name| series.iter().position(|s| s.name == *name && s.owner.is_empty()));
        let found: Vec<usize> = found.collect();
        // A sum that stands still is worth a line beside what moves.
        let is_any = found.iter().any(|&i| moves(&series[i]));
        found.into_iter().filter(|&i| is_any && (moves(&series[i]) || series[i].name == SUM)).collect()
    };
    let suffix = |s: &Series, first: char| s.name.rsplit_once('.').is_some_and(|(_, suffix)| suffix.starts_with(first));
    let mut panels = Vec::new();
    let mut add = |title: &str, series: Vec<usize>, is_log: bool| {
        if !series.is_empty() {
            panels.push(Panel { title: title.to_owned(), series, is_log });
        }
    };
    let coordinates = |quantity| pick(&|s: &Series| is_joint(s) && suffix(s, 'q') && s.quantity == quantity);
    let speeds = |quantity| pick(&|s: &Series| is_joint(s) && suffix(s, 'v') && s.quantity == quantity);
    let (angles, lengths) = (coordinates(Quantity::Angle), coordinates(Quantity::Length));
    let (turning, sliding) = (speeds(Quantity::AngularSpeed), speeds(Quantity::Speed));
    let has_joints = !(angles.is_empty() && lengths.is_empty() && turning.is_empty() && sliding.is_empty());
    add("angles of joints", angles, false);
    add("positions of joints", lengths, false);
    if !has_joints {
        let bodies: HashSet<&str> = model.bodies().iter().map(|body| body.name.as_str()).collect();
        let is_joint = |s: &Series| !bodies.contains(s.owner.as_str());
        let axis = up_axis(model);
        let is_of_body = |s: &Series, first: &str| {
            s.name.rsplit_once('.').is_some_and(|(_, suffix)| {
                axis.map_or(suffix.starts_with(first), |axis| suffix == format!("{first}{axis}"))
            })
        };
        let heights = pick(&|s: &Series| s.quantity == Quantity::Length && !is_joint(s) && is_of_body(s, ""));
        add(if axis.is_some() { "heights of bodies" } else { "positions of bodies" }, heights, false);
        let others = pick(&|s: &Series| s.quantity == Quantity::Length && !is_joint(s) && !is_of_body(s, ""));
        add("positions of bodies along the ground", if axis.is_some() { others } else { Vec::new() }, false);
        add("speeds of bodies", pick(&|s: &Series| s.quantity == Quantity::Speed && !is_joint(s)), false);
    }
    add("energy", named(&["kinetic", "potential (change)", SUM, "work", "dissipated"]), false);
    add("angular speeds of joints", turning, false);
    add("speeds of joints", sliding, false);
    add("normal forces of contacts", pick(&|s: &Series| s.quantity == Quantity::ContactForce), false);
    let in_joint = |s: &Series, quantity| is_joint(s) && s.quantity == quantity && !suffix(s, 'q') && !suffix(s, 'v');
    add("moments in joints", pick(&|s: &Series| in_joint(s, Quantity::Torque)), false);
    add("forces in joints", pick(&|s: &Series| in_joint(s, Quantity::Force)), false);
    add("momentum", pick(&|s: &Series| s.quantity == Quantity::Momentum), false);
    add("angular momentum", pick(&|s: &Series| s.quantity == Quantity::AngularMomentum), false);
    add("numbers of contacts", named(&["contacts"]), false);
    add("penetration", named(&["penetration"]), false);
    let relative = ["residual", "loop drift (position)", "loop drift (velocity)", "energy imbalance"];
    add("residuals and drifts", named(&relative), true);
    add("length of the step", named(&["step"]), true);
    panels
}

/// Changes below this share of what is usual for a quantity are rounding.
const ROUNDING: f64 = 1e-10;

/// What is usual: the size of the mechanism, a radian, and both over the time of the run; its weight lifted by its size.
fn scale_of(quantity: Quantity, model: &Model, duration: f64) -> f64 {
    let length = model.characteristic_length();
    let per_time = |x: f64| if duration > 0.0 { x / duration } else { 0.0 };
    match quantity {
        Quantity::Angle => 1.0,
        Quantity::Length => length,
        Quantity::AngularSpeed => per_time(1.0),
        Quantity::Speed => per_time(length),
        Quantity::Momentum => per_time(model.mass() * length),
        Quantity::AngularMomentum => per_time(model.mass() * length * length),
        Quantity::Energy => model.mass() * model.gravity().norm() * length,
        _ => 0.0,
    }
}

/// The axis that points up, where gravity is along one.
fn up_axis(model: &Model) -> Option<&'static str> {
    let g = model.gravity();
    let (axis, size) =
        [(0, g.x.abs()), (1, g.y.abs()), (2, g.z.abs())].into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    (size > 0.0 && size >= 0.999 * g.norm()).then_some(["x", "y", "z"][axis])
}
