//! A user's own force elements.

use super::sink::{Flow, JointParts, Sink};
use super::{Configuration, Element, Sight};
use crate::model::{BodyId, JointId};
use crate::spatial::{Pose, Twist, Vec3, Wrench};
use std::sync::Arc;

/// A load that a user of the library adds to a mechanism.
///
/// It is evaluated at every stage of every step and must depend on nothing but what the context shows. What its forces do is measured, and
/// counts as what each is said to be: work, stored, dissipated ([`Flow`]). A load whose forces are `Stored` gives their potential.
pub trait Load: Send + Sync {
    /// What it is called in messages.
    fn name(&self) -> &str {
        "of the user"
    }

    /// Numbers of scratch that it wants ([`LoadContext::scratch`]).
    fn n_scratch(&self) -> usize {
        0
    }

    /// Adds its forces.
    fn apply(&self, context: &mut LoadContext<'_>);

    /// Energy that its `Stored` forces can give back; it depends on positions alone.
    fn potential(&self, _view: &LoadView<'_>) -> f64 {
        0.0
    }
}

/// Positions, as a [`Load`] sees them.
#[derive(Clone, Copy)]
pub struct LoadView<'a> {
    at: Configuration<'a>,
}

/// What a [`Load`] sees and does.
pub struct LoadContext<'a> {
    see: Sight<'a>,
    scratch: &'a mut [f64],
    out: Sink<'a>,
}

impl LoadView<'_> {
    /// World pose of a body's frame.
    pub fn pose(&self, body: BodyId) -> Pose {
        self.at.view.body_pose(Some(body))
    }

    /// A joint's coordinates; none of one that does not exist now.
    pub fn joint_q(&self, joint: JointId) -> &[f64] {
        self.at.find_site(joint).map_or(&[], |site| self.at.joint_q(site))
    }
}

impl LoadContext<'_> {
    /// Time.
    pub fn time(&self) -> f64 {
        self.see.now.time
    }

    /// World pose of a body's frame.
    pub fn pose(&self, body: BodyId) -> Pose {
        self.see.at.view.body_pose(Some(body))
    }

    /// Velocity of a body at a world point.
    pub fn twist(&self, body: BodyId, at: &Vec3) -> Twist {
        self.see.at.view.twist_at(Some(body), at)
    }

    /// A joint's coordinates; none of one that does not exist now.
    pub fn joint_q(&self, joint: JointId) -> &[f64] {
        self.see.at.find_site(joint).map_or(&[], |site| self.see.at.joint_q(site))
    }

    /// A joint's speeds; none of one that does not exist now.
    pub fn joint_v(&self, joint: JointId) -> &[f64] {
        self.see.at.find_site(joint).map_or(&[], |site| self.see.joint_v(site))
    }

    /// Numbers to work with. What is in them at the start has no meaning.
    pub fn scratch(&mut self) -> &mut [f64] {
        self.scratch
    }

    /// Adds a force on a body at a world point. Its power is work.
    pub fn add_force(&mut self, body: BodyId, at: &Vec3, force: &Vec3) {
        self.add(Flow::Work, body, at, &Wrench::new(Vec3::zeros(), *force));
    }

    /// Adds a torque on a body. Its power is work.
    pub fn add_torque(&mut self, body: BodyId, torque: &Vec3) {
        let at = self.pose(body).translation;
        self.add(Flow::Work, body, &at, &Wrench::new(*torque, Vec3::zeros()));
    }

    /// Adds a wrench on a body, taken at a world point, and says what its power counts as. Give both halves of what acts between two
    /// bodies: whether they dissipate is judged by what they do together.
    pub fn add(&mut self, flow: Flow, body: BodyId, at: &Vec3, wrench: &Wrench) {
        self.out.wrench(&self.see.at.view, flow, Some(body), at, wrench);
    }

    /// Adds a force on one speed of a joint. A joint or speed that does not exist now takes none.
    pub fn add_joint_force(&mut self, flow: Flow, joint: JointId, speed: usize, force: f64) {
        let Some(site) = self.see.at.find_site(joint) else { return };
        let mut parts = JointParts::default();
        let part = match flow {
            Flow::Work => &mut parts.work,
            Flow::Stored => &mut parts.stored,
            Flow::Dissipated => &mut parts.dissipated,
        };
        if speed < self.see.joint_v(site).len() {
            part[speed] = force;
            self.out.joint(&self.see, site, &parts);
        }
    }
}

impl Element for Arc<dyn Load> {
    fn n_scratch(&self) -> usize {
        self.as_ref().n_scratch()
    }

    fn apply(&self, see: &Sight<'_>, scratch: &mut [f64], out: &mut Sink<'_>) {
        let mut context = LoadContext { see: *see, scratch, out: out.reborrow() };
        self.as_ref().apply(&mut context);
        let measured = context.out.measured();
        out.count_on(measured);
    }

    fn potential(&self, at: &Configuration<'_>) -> f64 {
        self.as_ref().potential(&LoadView { at: *at })
    }
}
