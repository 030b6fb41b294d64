//! What steps, events and the contact problem need of a formulation of the dynamics.
//!
//! A formulation is one folder that implements [`Formulation`], and one arm in `engine.rs`. Nobody else asks which one runs.

use super::dense::Dense;
use super::error::DynamicsError;
use super::jump::{Before, Jumped};
use super::port::Port;
use super::row::{Closure, Level, RowSet};
use super::system::System;
use super::tree::Kinematics;
use crate::contact::delassus::BlockMatrix;
use crate::contact::origin::Origin;
use crate::contact::solve::Reason;
use crate::model::Instant;
use crate::spatial::{Twist, Vec3, Wrench};

/// A mechanism at one configuration.
#[derive(Clone, Copy)]
pub(crate) struct Posed<'a> {
    pub system: &'a System,
    pub kinematics: &'a Kinematics,
    pub rows: &'a RowSet,
    /// Where cut joints stand.
    pub closures: &'a [Closure],
}

/// What moves a mechanism: forces for accelerations, or impulses for a jump of velocities.
#[derive(Clone, Copy)]
pub(crate) struct Drive<'a> {
    /// Force on each speed of the tree.
    pub tau: &'a [f64],
    /// Wrench on each link at its origin.
    pub external: Option<&'a [Wrench]>,
    /// Accelerations, or jumps, of prescribed speeds.
    pub held: &'a [f64],
    /// Uniform gravitational acceleration.
    pub gravity: Vec3,
    /// What rows are about.
    pub level: Level,
}

/// The answer to a drive.
pub(crate) struct Answer<'a> {
    /// Rate, or jump, of each speed of the tree.
    pub rates: &'a mut [f64],
    /// That of each link's origin, gravity counted as an upward acceleration of the ground.
    pub links: &'a mut [Twist],
    /// Force, or impulse, of each row.
    pub lambda: &'a mut [f64],
}

/// What a velocity jump starts from.
pub(crate) struct JumpStart<'a> {
    pub now: Instant,
    /// Speeds before, those that new joints would have measured included.
    pub was: &'a [f64],
    pub before: &'a Before<'a>,
}

/// Work done so far, in numbers that do not depend on the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counters {
    /// Link visits of all sweeps.
    pub links: u64,
    /// Merges of clusters.
    pub merges: u64,
    /// Merges that the last event has repeated.
    pub repeated: u64,
}

/// A formulation with its scratch. Nothing in it outlives an evaluation but counters, and what an event hands on.
pub(crate) trait Formulation {
    /// Positions and velocities of all links; those of their origins may be left to [`Self::place_origins`].
    fn place(&mut self, system: &System, q: &[f64], v: &[f64], out: &mut Kinematics);

    /// Positions and velocities of the links' origins, after [`Self::place`].
    fn place_origins(&mut self, system: &System, out: &mut Kinematics);

    /// Makes what [`Self::close`] and contact ports need known at a configuration; `tau` and `held` are those of the step. Rows of
    /// rotors take part where `rotors` says so.
    fn factor(&mut self, at: &Posed<'_>, tau: &[f64], held: &[f64], rotors: bool);

    /// The displacement, or change of speeds, of least kinetic energy that moves the factored rows by `rhs`.
    fn close(&mut self, at: &Posed<'_>, rhs: &[f64], out: &mut [f64]);

    /// The motion that answers a drive.
    fn solve(&mut self, at: &Posed<'_>, drive: &Drive<'_>, out: &mut Answer<'_>) -> Result<(), DynamicsError>;

    /// The same with the forces of all rows, for what joints transmit.
    fn react(&mut self, at: &Posed<'_>, drive: &Drive<'_>, out: &mut Answer<'_>) -> Result<(), DynamicsError>;

    /// Puts its own speeds and joint impulses of a jump in the place of those found by rows, where it does not find them by rows.
    fn override_jump(
        &mut self,
        at: &Posed<'_>,
        start: &JumpStart<'_>,
        v: &mut [f64],
        jumped: &mut Jumped,
    ) -> Result<(), DynamicsError>;

    /// Whether [`Self::accelerate_at_once`] answers.
    fn is_direct(&self) -> bool;

    /// Accelerations in one sweep from the coordinates on, where nothing needs positions in space; leaves no kinematics behind. None
    /// where that is not what it does.
    fn accelerate_at_once(
        &mut self,
        system: &System,
        state: (&[f64], &[f64]),
        drive: &Drive<'_>,
        rates: &mut [f64],
    ) -> Option<Result<(), DynamicsError>>;

    /// Rows that depended on others at the last factorisation.
    fn dependent_rows(&self, out: &mut Vec<usize>);

    /// Independent rows at the last factorisation, and the distance from a singular position: one is far, zero is at it.
    fn regularity(&self) -> (usize, f64);

    /// Takes over what an event has left as it was. `old` stands where the event happens, `q` are the coordinates there, and only
    /// held speeds of the same tree differ.
    fn inherit(&mut self, at: &Posed<'_>, old: &mut Self, old_at: &Posed<'_>, q: &[f64]);

    /// Counts on from another's work.
    fn count_on(&mut self, work: Counters);

    /// Work done so far.
    fn counters(&self) -> Counters;

    /// The oracle's last solution, where it is the oracle.
    fn oracle(&self) -> Option<&Dense>;
}

/// What impulses at ports do to a mechanism, by a formulation: G and M⁻¹ Wᵀ r, loops kept closed.
pub(crate) trait Response {
    /// The formulation.
    type Of: Formulation;

    /// Poses ports where the formulation has factored last.
    fn open(&mut self, by: &mut Self::Of, at: &Posed<'_>, ports: &[Port]) -> Result<(), DynamicsError>;

    /// G of the open ports, block by block.
    fn write_delassus(&mut self, system: &System, out: &mut BlockMatrix);

    /// Where G comes from, where that is known and of use; else nothing is written, and why not is said.
    fn describe(&mut self, at: &Posed<'_>, ports: &[Port], out: &mut Origin) -> Option<Reason>;

    /// Adds M⁻¹ Wᵀ r to speeds.
    fn respond(&mut self, by: &Self::Of, at: &Posed<'_>, r: &[f64], v: &mut [f64]);
}
