//! The smallest thing that restarts a run bit for bit.

use crate::contact::RowValues;
use crate::model::Topology;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Everything that a run carries from one step to the next.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct State {
    /// What events have made of the mechanism; these coordinates belong to it.
    pub topology: Arc<Topology>,
    /// What is known of each event of the model.
    pub events: Vec<EventMemory>,
    /// Time.
    pub time: f64,
    /// Steps taken.
    pub steps: u64,
    /// Coordinates of the tree joints, in tree order.
    pub q: Vec<f64>,
    /// Speeds of the tree joints, in tree order.
    pub v: Vec<f64>,
    /// Coordinates of the cut joints; they follow from `q`, but for the number of turns.
    pub cut_q: Vec<f64>,
    /// Work done so far by loads and motors that have no potential.
    pub work: f64,
    /// Energy dissipated so far by dampers and at events.
    pub dissipated: f64,
    /// Memory of the adaptive step-size control.
    pub control: StepControl,
    /// What pushed in the last step, by identity.
    #[serde(default)]
    pub contacts: Vec<ContactMemory>,
}

/// What is remembered of a contact from one step to the next.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ContactMemory {
    /// Which contact. They are kept in the order of these.
    pub id: [u64; 2],
    /// Impulse of the last step, row by row; a warm start for the next.
    pub impulse: RowValues,
    /// That of the step before.
    pub before: RowValues,
    /// Tangents in which they are given, world axes.
    pub tangents: [[f64; 3]; 2],
    /// For dry friction in a joint: size of the force that the joint transmitted in the last step.
    pub load: f64,
}

/// Memory of the adaptive step-size control.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct StepControl {
    /// Step to try next; zero before the first one.
    pub step: f64,
}

/// What is known of an event.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct EventMemory {
    /// How often it has happened.
    pub fired: u64,
    /// Whether its condition is watched.
    pub is_armed: bool,
    /// When it will happen, where that is known.
    pub due: Option<f64>,
    /// When it happened last.
    pub last: Option<f64>,
    /// For a threshold on strikes: what struck in the last step.
    #[serde(default)]
    pub struck: f64,
}

impl State {
    /// Names something beside coordinates and speeds that is no finite number.
    pub(crate) fn find_non_finite(&self) -> Option<&'static str> {
        let of_contacts = self.contacts.iter().flat_map(|c| {
            let tangents = c.tangents.iter().flatten();
            c.impulse.iter().chain(c.before.iter()).chain(tangents).chain([&c.load])
        });
        let of_events = self.events.iter().flat_map(|e| e.due.iter().chain(&e.last).chain([&e.struck]));
        let is_bad = |x: &f64| !x.is_finite();
        match () {
            () if is_bad(&self.time) => Some("the time of the state"),
            () if self.cut_q.iter().any(is_bad) => Some("a coordinate of a joint that closes a loop"),
            () if is_bad(&self.work) || is_bad(&self.dissipated) => Some("the energy balance of the state"),
            () if is_bad(&self.control.step) => Some("the step control of the state"),
            () if of_contacts.into_iter().any(is_bad) => Some("what the state remembers of a contact"),
            () if of_events.into_iter().any(is_bad) => Some("what the state remembers of an event"),
            () => None,
        }
    }

    /// Becomes a copy of another state, in the memory it has.
    pub fn assign(&mut self, other: &Self) {
        self.topology.clone_from(&other.topology);
        self.events.clone_from(&other.events);
        self.q.clone_from(&other.q);
        self.v.clone_from(&other.v);
        self.cut_q.clone_from(&other.cut_q);
        self.contacts.clone_from(&other.contacts);
        (self.time, self.steps) = (other.time, other.steps);
        (self.work, self.dissipated, self.control) = (other.work, other.dissipated, other.control);
    }
}
