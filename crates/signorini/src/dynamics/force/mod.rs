//! Forces: in joints, between points, on bodies, and a user's own.
//!
//! **Problem.** Everything that pushes a mechanism, gravity, rows and contact apart, must be felt by the motion, by the stored energy and by
//! the energy audit alike, and no kind of it may be forgotten by one of them.
//!
//! **Method.** A force *element* says what it adds (`Element::apply`) and what it stores (`Element::potential`). It hands its forces to a
//! `Sink`, which measures their power and books it by `Flow`: as work, as stored, as dissipated. An element therefore cannot misreport
//! its own power; what is called dissipation and feeds energy in counts as work. Every element is asked once per evaluation, in the order of
//! the scene, so that sums have an order. A kind is one file here and one arm of `ForceElement`.
//!
//! **Cost.** One visit per element.
//!
//! **Fails when** a force is not a finite number: the element is named.
//!
//! **Checked by** `tests/force.rs`: for every kind, a user's own included, what `Stored` forces do is what the potential loses;
//! `tests/audit.rs`; the oracle in `tests/dynamics.rs`.

mod gravity;
mod implicit;
mod joint;
mod push;
mod sight;
mod sink;
mod spring;
mod user;

pub(crate) use implicit::{Implicit, Passed};
pub(crate) use joint::{joint_forces, motor_forces};
pub(crate) use sight::{Configuration, Sight, View};
pub use sink::{Flow, Power};
pub use user::{Load, LoadContext, LoadView};

use super::error::DynamicsError;
use super::row::Cut;
use super::tree::Tree;
use crate::model::{ForceKind, JointId, Model, Push, SpringDamper, Torque};
use crate::plan::Plan;
use crate::spatial::Wrench;
use gravity::GravityHold;
use joint::{JointForces, JointMotors};
use sight::Site;
use sink::Sink;
use std::sync::Arc;

/// What a kind of force element must say. There are no defaults: the compiler names what a new kind lacks.
pub(crate) trait Element {
    /// Numbers of scratch that it wants; their content is lost between evaluations.
    fn n_scratch(&self) -> usize;

    /// Adds its forces.
    fn apply(&self, see: &Sight<'_>, scratch: &mut [f64], out: &mut Sink<'_>);

    /// Energy that its `Stored` forces can give back. It depends on positions alone.
    fn potential(&self, at: &Configuration<'_>) -> f64;
}

/// The kinds of force element there are: the one place where they are listed.
pub(crate) enum ForceElement {
    /// Springs, dampers and servos of one joint.
    Joint(JointForces),
    /// Motors of one joint that follow a function of time.
    Motors(JointMotors),
    /// Servos of one joint that hold what it carries.
    Gravity(GravityHold),
    /// Spring and damper between two points.
    Spring(Named<SpringDamper>),
    /// A force at a point of a body.
    Push(Named<Push>),
    /// A pure torque on a body.
    Torque(Named<Torque>),
    /// A user's own.
    User(Arc<dyn Load>),
}

/// Which elements are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// Every one.
    All,
    /// Those that a step does not take implicitly.
    Explicit,
}

/// A force of the scene, with its name.
pub(crate) struct Named<T> {
    name: String,
    force: T,
}

/// Does the same with whichever kind there is.
macro_rules! each {
    ($element:expr, $one:ident => $act:expr) => {
        match $element {
            ForceElement::Joint($one) => $act,
            ForceElement::Motors($one) => $act,
            ForceElement::Gravity($one) => $act,
            ForceElement::Spring(Named { force: $one, .. }) => $act,
            ForceElement::Push(Named { force: $one, .. }) => $act,
            ForceElement::Torque(Named { force: $one, .. }) => $act,
            ForceElement::User($one) => $act,
        }
    };
}

impl ForceElement {
    /// A load of the scene.
    fn build(name: &str, kind: &ForceKind) -> Self {
        let name = name.to_owned();
        match kind {
            ForceKind::Spring(force) => Self::Spring(Named { name, force: force.clone() }),
            ForceKind::Force(force) => Self::Push(Named { name, force: force.clone() }),
            ForceKind::Torque(force) => Self::Torque(Named { name, force: force.clone() }),
        }
    }

    /// Whether a step may take it implicitly ([`Implicit`]).
    fn is_implicit(&self) -> bool {
        matches!(self, Self::Joint(joint) if matches!(joint.site(), Site::Link(_)))
    }

    /// What it is called in messages.
    fn describe(&self, at: &Configuration<'_>) -> String {
        let model = at.view.model;
        match self {
            Self::Spring(Named { name, force }) if force.is_collapsed(at) => {
                format!(
                    "the direction of force `{name}`, a spring of rest length {} whose ends coincide,",
                    force.length
                )
            }
            Self::Joint(one) => format!("what acts in joint `{}`", one.name(model)),
            Self::Gravity(one) => format!("what holds the weight on joint `{}`", one.name(model)),
            Self::Motors(one) => format!("the motor of joint `{}`", one.name(model)),
            Self::Spring(Named { name, .. }) | Self::Push(Named { name, .. }) | Self::Torque(Named { name, .. }) => {
                format!("force `{name}`")
            }
            Self::User(load) => format!("load `{}`", load.name()),
        }
    }
}

impl Element for ForceElement {
    fn n_scratch(&self) -> usize {
        each!(self, one => one.n_scratch())
    }

    fn apply(&self, see: &Sight<'_>, scratch: &mut [f64], out: &mut Sink<'_>) {
        each!(self, one => one.apply(see, scratch, out));
    }

    fn potential(&self, at: &Configuration<'_>) -> f64 {
        each!(self, one => one.potential(at))
    }
}

/// All force elements of a mechanism: joints of the tree, joints that close loops, loads of the scene, loads of the user.
#[derive(Default)]
pub(crate) struct Forces {
    elements: Vec<ForceElement>,
}

impl Forces {
    /// Lists what acts.
    pub fn build(model: &Model, plan: &Plan, tree: &Tree, cuts: &[Cut]) -> Self {
        let in_joints = JointForces::build_all(model, plan, cuts).into_iter().map(ForceElement::Joint);
        let motors = JointMotors::build_all(model, plan, cuts).into_iter().map(ForceElement::Motors);
        let holds = GravityHold::build_all(model, plan, tree).into_iter().map(ForceElement::Gravity);
        let acting = model.forces().iter().filter(|f| f.is_on);
        let of_scene = acting.map(|f| ForceElement::build(&f.name, &f.kind));
        Self { elements: in_joints.chain(motors).chain(holds).chain(of_scene).collect() }
    }

    /// Adds a user's own.
    pub fn add(&mut self, load: Box<dyn Load>) {
        self.elements.push(ForceElement::User(Arc::from(load)));
    }

    /// Takes over a user's own from another list.
    pub fn adopt_user_loads(&mut self, old: &mut Self) {
        let (users, scene) =
            std::mem::take(&mut old.elements).into_iter().partition(|e| matches!(e, ForceElement::User(_)));
        old.elements = scene;
        self.elements.extend::<Vec<_>>(users);
    }

    /// Has a user's own of another list as well.
    pub fn share_user_loads(&mut self, of: &Self) {
        let users = of.elements.iter().filter_map(|e| if let ForceElement::User(load) = e { Some(load) } else { None });
        self.elements.extend(users.map(|load| ForceElement::User(Arc::clone(load))));
    }

    /// Whether a user has added any.
    pub fn has_user_loads(&self) -> bool {
        self.elements.iter().any(|e| matches!(e, ForceElement::User(_)))
    }

    /// Forces that hold weights, by joint.
    pub fn weight_holds<'a>(&'a self, view: &'a View<'_>) -> impl Iterator<Item = (JointId, [f64; 6])> + 'a {
        self.elements.iter().filter_map(|element| match element {
            ForceElement::Gravity(hold) => Some(hold.force_in_joint(view)),
            _ => None,
        })
    }

    /// Whether some depend on positions in space, beside those of the scene and of the user.
    pub fn need_positions(&self) -> bool {
        self.elements.iter().any(|e| matches!(e, ForceElement::Gravity(_)))
    }

    /// Whether nothing acts.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// Numbers of scratch that all elements want.
    pub fn n_scratch(&self) -> usize {
        self.elements.iter().map(Element::n_scratch).sum()
    }

    /// Adds forces on speeds of the tree to `tau`, and wrenches on links to `external`.
    pub fn apply(
        &self,
        which: Which,
        see: &Sight<'_>,
        mut scratch: &mut [f64],
        (tau, external): (&mut [f64], &mut [Wrench]),
    ) -> Result<Power, DynamicsError> {
        let mut total = Power::default();
        let mut sink = Sink::new(tau, external);
        for element in &self.elements {
            let (own, rest) = std::mem::take(&mut scratch).split_at_mut(element.n_scratch());
            scratch = rest;
            if which == Which::Explicit && element.is_implicit() {
                continue;
            }
            element.apply(see, own, &mut sink);
            let power = sink.take_power();
            // Where speeds are not finite it is not the element that is to blame.
            if !power.is_finite() && see.v.iter().all(|v| v.is_finite()) {
                let what = element.describe(&see.at);
                return Err(DynamicsError::NotFinite { time: see.now.time, what });
            }
            total += power;
        }
        Ok(total)
    }

    /// Energy that all elements store.
    pub fn potential(&self, at: &Configuration<'_>) -> f64 {
        self.elements.iter().fold(0.0, |sum, element| sum + element.potential(at))
    }
}
