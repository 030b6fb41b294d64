//! What contacts did in a step.

use super::ContactConstraint;
use crate::contact::law::Laws;
use crate::model::BodyId;

/// What a contact does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It pushes with nothing.
    Open,
    /// It pushes and does not slide.
    Stick,
    /// It pushes and slides.
    Slip,
}

impl Mode {
    /// As tables spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Stick => "stick",
            Self::Slip => "slip",
        }
    }
}

/// One contact of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactReport {
    /// Pair of shapes and feature: the same from step to step.
    pub id: [u64; 2],
    /// Bodies, none for the ground.
    pub bodies: [Option<BodyId>; 2],
    /// World point, halfway between those of the bodies.
    pub point: [f64; 3],
    /// The points of the first and of the second body at which the impulse acts.
    pub points: [[f64; 3]; 2],
    /// From the first body to the second.
    pub normal: [f64; 3],
    /// First tangent; the second is the normal times it.
    pub tangent: [f64; 3],
    /// At the start of the step.
    pub gap: f64,
    /// Impulse on the second body: along the normal, along both tangents.
    pub impulse: [f64; 3],
    /// Impulse of the moment on the second body about the point: about the normal, about both tangents.
    pub moment: [f64; 3],
    /// The part of the normal impulse with which they struck: it has no limit as steps get shorter, unlike a force times the step.
    pub struck: f64,
    /// Velocity of the second body's surface against the first's at the end of the step, in the same directions.
    pub velocity: [f64; 3],
    /// Angular velocity of the second body against the first at the end of the step about these directions, where friction resists it.
    pub turn: [f64; 3],
    /// What it does.
    pub mode: Mode,
}

/// A limit or dry friction of a joint in a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointConstraintForce {
    /// The joint's place in the scene.
    pub joint: usize,
    /// Its coordinate.
    pub coordinate: usize,
    /// A limit, or dry friction.
    pub is_limit: bool,
    /// Mean force over the step along the coordinate.
    pub force: f64,
    /// The part of its impulse with which a limit struck, along the coordinate.
    pub struck: f64,
}

/// Share of the velocities without impulses below which a contact does not slide: what the default tolerance leaves of them.
const STILL: f64 = 1e-9;

impl ContactReport {
    pub(super) fn new(
        (t, laws): (&ContactConstraint, &Laws),
        [impulse, moment]: [[f64; 3]; 2],
        struck: f64,
        [velocity, turn]: [[f64; 3]; 2],
        [with, without]: &[[[f64; 3]; 2]; 2],
    ) -> Self {
        // Turning counts by the way of the arm of the largest friction moment.
        let arm = t.arm(laws);
        let size = |x: &[f64], turn: &[f64; 3]| {
            let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
            (square(x) + arm * arm * square(turn)).sqrt()
        };
        let mode = if impulse[0] <= 0.0 {
            Mode::Open
        } else if t.n_rows() == 1 || size(&with[0][1..], &with[1]) > STILL * size(&without[0], &without[1]) {
            Mode::Slip
        } else {
            Mode::Stick
        };
        Self {
            id: t.id,
            bodies: t.bodies,
            point: t.middle().into(),
            points: t.points.map(<[f64; 3]>::from),
            normal: t.normal.into(),
            tangent: t.tangents[0].into(),
            gap: t.gap,
            impulse,
            moment,
            struck,
            velocity,
            turn,
            mode,
        }
    }
}
