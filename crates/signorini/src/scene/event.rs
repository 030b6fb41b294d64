//! Events: what happens to a mechanism in mid-flight, and when.

use super::{Attachment, Axes, JointKind};
use serde::{Deserialize, Serialize};

/// A change of the mechanism, or an impulse, with what triggers it.
///
/// Exactly one of `time`, `when` and `after` says when. Which of the other keys belong to which kind is checked by
/// [`validate`](super::validate::validate).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Event {
    /// Unique among events. A weld's joint has the name of its event.
    pub name: String,
    /// What happens.
    pub kind: EventKind,
    /// Happens at this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// Happens when this becomes true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
    /// Happens after the event of this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// How long after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<f64>,
    /// The joint concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joint: Option<String>,
    /// Several joints at once, by names or patterns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joints: Option<Vec<String>>,
    /// Which coordinates of the joint; all unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coordinates: Option<Vec<usize>>,
    /// Lock: the axis, in the frame of `body`, about which a spherical joint may no longer turn. Change: as for a joint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub axis: Option<[f64; 3]>,
    /// Change: the second axis, as for a joint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub axis2: Option<[f64; 3]>,
    /// Change: pitch of a screw joint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pitch: Option<f64>,
    /// Change: the new kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<JointKind>,
    /// Lock: the body in which `axis` is fixed. Impulse: the body that is struck.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Engage, release: the coupling concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coupling: Option<String>,
    /// Several couplings at once, by names or patterns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub couplings: Option<Vec<String>>,
    /// Engage: the offset that the coupling holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<f64>,
    /// Engage: the length that the coupling holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
    /// Weld: the two bodies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bodies: Option<Vec<String>>,
    /// Switch: the load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub force: Option<String>,
    /// Switch: which motor of `joint`, counted from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub motor: Option<usize>,
    /// Switch: on or off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<bool>,
    /// Impulse: where, in the body frame; the centre of mass unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub point: Option<[f64; 3]>,
    /// Impulse: force times time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector: Option<[f64; 3]>,
    /// Impulse: moment times time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moment: Option<[f64; 3]>,
    /// Impulse: axes of `vector` and `moment`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub axes: Option<Axes>,
}

/// What an event does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// Stops a joint, or some of its coordinates.
    #[default]
    Lock,
    /// Sets a locked joint free.
    Unlock,
    /// Makes a joint one of another kind.
    Change,
    /// Joins two bodies rigidly as they are.
    Weld,
    /// Makes absent joints exist.
    Attach,
    /// Makes joints or couplings absent.
    Release,
    /// Makes absent couplings act.
    Engage,
    /// Switches a load or a motor.
    Switch,
    /// Strikes a body.
    Impulse,
}

impl EventKind {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::Lock,
        Self::Unlock,
        Self::Change,
        Self::Weld,
        Self::Attach,
        Self::Release,
        Self::Engage,
        Self::Switch,
        Self::Impulse,
    ];

    /// Its name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lock => "lock",
            Self::Unlock => "unlock",
            Self::Change => "change",
            Self::Weld => "weld",
            Self::Attach => "attach",
            Self::Release => "release",
            Self::Engage => "engage",
            Self::Switch => "switch",
            Self::Impulse => "impulse",
        }
    }
}

/// A quantity that passes a threshold.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Condition {
    /// The quantity.
    pub kind: Quantity,
    /// The joint it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joint: Option<String>,
    /// The coupling it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coupling: Option<String>,
    /// Which coordinate or speed of it, counted from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coordinate: Option<usize>,
    /// One end of a distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<Attachment>,
    /// The other end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b: Option<Attachment>,
    /// Two bodies that touch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bodies: Vec<String>,
    /// True above this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above: Option<f64>,
    /// True below this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<f64>,
    /// The event may happen again once the quantity has come back to here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rearm: Option<f64>,
}

/// What a condition looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// A coordinate of a joint.
    #[default]
    Coordinate,
    /// A speed of a joint.
    Speed,
    /// The distance between two points.
    Distance,
    /// The kinetic energy of the mechanism.
    KineticEnergy,
    /// Kinetic and potential energy.
    Energy,
    /// Size of the force that a joint transmits.
    Force,
    /// Size of the moment that a joint transmits.
    Moment,
    /// Force with which a lock, a motion or a motor acts on a coordinate.
    Drive,
    /// Size of the impulse that a joint transmits at an event.
    Impulse,
    /// Size of the moment impulse that a joint transmits at an event.
    MomentImpulse,
    /// Force with which two bodies press on each other.
    ContactForce,
    /// Impulse with which two bodies strike each other.
    ContactImpulse,
}

impl Quantity {
    /// Whether it belongs to a joint.
    pub fn is_of_joint(self) -> bool {
        !matches!(self, Self::Distance | Self::KineticEnergy | Self::Energy) && !self.is_of_contact()
    }

    /// Whether it belongs to two bodies that touch.
    pub fn is_of_contact(self) -> bool {
        matches!(self, Self::ContactForce | Self::ContactImpulse)
    }

    /// Whether it may belong to a coupling instead of a joint.
    pub fn may_be_of_coupling(self) -> bool {
        matches!(self, Self::Force | Self::Impulse)
    }

    /// Whether it belongs to one coordinate of a joint.
    pub fn is_of_coordinate(self) -> bool {
        matches!(self, Self::Coordinate | Self::Speed | Self::Drive)
    }
}

/// Loads at which a joint breaks. Any of them is enough.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Break {
    /// Size of the transmitted force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub force: Option<f64>,
    /// Size of the transmitted moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moment: Option<f64>,
    /// Size of the impulse transmitted at an event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub impulse: Option<f64>,
    /// Size of the moment impulse transmitted at an event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moment_impulse: Option<f64>,
}
