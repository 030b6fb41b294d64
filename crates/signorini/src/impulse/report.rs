//! What an event did: one line of `events.jsonl`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What an event did. Events of one instant are one solve and share everything but name, kind, target and notes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventReport {
    /// When.
    pub time: f64,
    /// Name of the event.
    pub name: String,
    /// Kind of the event.
    pub kind: String,
    /// What it changed: joints, a load, a body.
    pub target: Vec<String>,
    /// Names of the other events of this instant, solved together with it.
    pub simultaneous: Vec<String>,
    /// Where there was nothing to do, and why.
    pub notes: Vec<String>,
    /// Speeds of each joint before.
    pub velocity_before: BTreeMap<String, Vec<f64>>,
    /// Speeds of each joint after.
    pub velocity_after: BTreeMap<String, Vec<f64>>,
    /// Impulse that each joint transmitted to its child: moment, force; world axes; at the child's joint frame.
    pub impulses: BTreeMap<String, [f64; 6]>,
    /// Impulse of each coupling that acts, condition by condition.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub coupling_impulses: BTreeMap<String, Vec<f64>>,
    /// Momenta conjugate to the joint speeds of the tree that were and are free, before.
    pub generalised_momentum_before: BTreeMap<String, Vec<f64>>,
    /// The same after.
    pub generalised_momentum_after: BTreeMap<String, Vec<f64>>,
    /// Momentum of the whole mechanism before.
    pub momentum_before: Momentum,
    /// Momentum of the whole mechanism after.
    pub momentum_after: Momentum,
    /// Kinetic energy.
    pub kinetic_energy: Kinetic,
    /// Work of applied impulses (at the mean of the velocities before and after) and of constraints that move by themselves, and
    /// energy that springs and rotors bring along. An impulse at the same instant as new constraints shares what is lost with them.
    pub work: f64,
    /// Energy lost: kinetic energy, and what was stored in springs that are gone.
    pub dissipated: f64,
    /// Under divide and conquer: merges of clusters that the event made necessary again, those between the changed joints and
    /// the root. Zero where everything was assembled anew.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub merges: u64,
    /// Constraints that follow from others, so that their impulses are not unique.
    pub not_unique: Vec<String>,
}

/// Momentum of a mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Momentum {
    /// Linear.
    pub linear: [f64; 3],
    /// Angular, about the world's origin.
    pub angular: [f64; 3],
}

/// Kinetic energy around an event.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Kinetic {
    /// Before.
    pub before: f64,
    /// After.
    pub after: f64,
    /// Kinetic energy of the velocity jump. With constraints that do not move by themselves it is what was lost (Carnot).
    pub of_jump: f64,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}
