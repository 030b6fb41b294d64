//! What a step moves, over which time, and where.

use super::quantity::{Displacement, Speeds};
use crate::dynamics::System;
use crate::dynamics::Workspace;
use crate::dynamics::force::Passed;
use crate::dynamics::tree::LinkKind;
use crate::model::Instant;
use crate::state::State;

/// The mechanism, with the workspace that stands where the step takes its inertias from.
pub(crate) struct Mechanism<'a> {
    pub system: &'a System,
    pub w: &'a mut Workspace,
    /// A controller's force on each speed.
    pub input: &'a [f64],
}

impl Mechanism<'_> {
    /// Whether forces depend on where the mechanism is.
    pub fn has_loads(&self) -> bool {
        let system = self.system;
        !(system.elements.is_empty() && system.model.forces().is_empty() && system.forces.is_empty())
    }
}

/// The time of a step, and the state that it starts from.
#[derive(Clone, Copy)]
pub(crate) struct Interval<'a> {
    pub from: &'a State,
    pub h: f64,
    /// Whether positions and velocities in the workspace are those of the state.
    pub is_current: bool,
}

impl Interval<'_> {
    /// Its start, as signals see it from inside.
    pub fn start(&self) -> Instant {
        Instant { time: self.from.time, inside: self.inside() }
    }

    /// Its middle.
    pub fn middle(&self) -> Instant {
        Instant { time: self.inside(), inside: self.inside() }
    }

    /// Its end.
    pub fn end(&self) -> Instant {
        Instant { time: self.from.time + self.h, inside: self.inside() }
    }

    fn inside(&self) -> f64 {
        self.from.time + 0.5 * self.h
    }
}

/// Energy that passes during a step.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Balance {
    pub work: f64,
    pub dissipated: f64,
}

impl std::ops::AddAssign<Passed> for Balance {
    fn add_assign(&mut self, passed: Passed) {
        self.work += passed.work;
        self.dissipated += passed.dissipated;
    }
}

/// The motion of a step, as far as it is known.
pub(crate) struct Moving {
    /// Coordinates where the step takes its inertias from.
    pub q: Vec<f64>,
    /// Speeds at the start, as if what has struck so far had struck before.
    pub start: Speeds,
    /// Speeds at the end by forces, and by the impulses found so far.
    pub end: Speeds,
    /// What strikes add to the displacement that goes with these speeds: they act from their own time on.
    pub shift: Displacement,
    pub energy: Balance,
}

impl Moving {
    pub fn new(system: &System) -> Self {
        let (n_q, n_v) = system.sizes();
        Self {
            q: vec![0.0; n_q],
            start: Speeds::zeros(n_v),
            end: Speeds::zeros(n_v),
            shift: Displacement::zeros(n_v),
            energy: Balance::default(),
        }
    }
}

/// A configuration beside that of the step, with kinematics of its own.
pub(crate) struct Trial {
    pub q: Vec<f64>,
    pub v: Speeds,
    pub w: Workspace,
}

impl Trial {
    pub fn new(system: &System) -> Self {
        let (n_q, n_v) = system.sizes();
        Self { q: vec![0.0; n_q], v: Speeds::zeros(n_v), w: system.workspace() }
    }

    /// Starts where a step does.
    pub fn start(&mut self, over: &Interval<'_>) {
        self.q.copy_from_slice(&over.from.q);
        self.v.copy_from_slice(&over.from.v);
        self.w.cut_q.copy_from_slice(&over.from.cut_q);
    }
}

impl System {
    /// Moves coordinates along the manifold by h v.
    pub(super) fn displace(&self, q: &mut [f64], v: &[f64], h: f64) {
        for link in &self.tree.links {
            if let LinkKind::Revolute(_) = link.kind {
                q[link.q as usize] += h * v[link.v as usize];
                continue;
            }
            let mut step = [0.0; 6];
            for (k, at) in link.v_range().enumerate() {
                step[k] = h * v[at];
            }
            link.joint_type().displace(&mut q[link.q_range()], &step[..link.n_v as usize]);
        }
    }
}
