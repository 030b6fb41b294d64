//! A mechanism as its user sees it: bodies and joints by id, in the order of the scene and whatever the tree is.
//!
//! Speeds are numbered so: those of the joints, joint after joint, then the six of every body that floats (velocity of its centre of mass in
//! world axes, angular velocity in its own), body after body. Joints that close loops follow from the others and are left out. All of this holds
//! until the next event; [`Simulation::speeds_of_joint`] says where a joint is now.

use super::contact::{ContactReport, ContactStepper};
use super::{Simulation, StepError, StepReport};
use crate::dynamics::System;
use crate::model::{BodyId, JointId};
use crate::spatial::{Pose, Twist, Vec3, Wrench};
use crate::state::State;
use nalgebra::{DMatrix, DVector, Matrix6xX};
use std::ops::Range;

impl Simulation {
    /// The name of a joint.
    pub fn joint_name(&self, joint: JointId) -> Result<&str, StepError> {
        Ok(&self.scene.joints()[self.known_joint(joint)?].name)
    }

    /// The name of a body.
    pub fn body_name(&self, body: BodyId) -> Result<&str, StepError> {
        Ok(&self.scene.bodies()[self.known_body(body)?].name)
    }

    /// Ids of all bodies, in the order of the scene, the ground left out.
    pub fn body_ids(&self) -> impl Iterator<Item = BodyId> + use<> {
        (0..self.scene.bodies().len() as u32).map(BodyId)
    }

    /// Ids of all joints, in the order of the scene, those that do not exist yet among them.
    pub fn joint_ids(&self) -> impl Iterator<Item = JointId> + use<> {
        (0..self.scene.joints().len() as u32).map(JointId)
    }

    /// Coordinates of a joint; none while it does not exist.
    pub fn q(&mut self, joint: JointId) -> Result<&[f64], StepError> {
        let j = self.known_joint(joint)?;
        self.update_current();
        let system = &self.system;
        if let Some(link) = system.plan.link_of_joint[j] {
            return Ok(&self.state.q[system.tree.links[link].q_range()]);
        }
        let cut = system.cuts.iter().find(|cut| cut.joint == joint);
        Ok(cut.map_or(&[], |cut| &self.work.cut_q[cut.q.clone()]))
    }

    /// Speeds of a joint; none while it does not exist.
    pub fn v(&mut self, joint: JointId) -> Result<&[f64], StepError> {
        let j = self.known_joint(joint)?;
        self.update_current();
        let system = &self.system;
        if let Some(link) = system.plan.link_of_joint[j] {
            return Ok(&self.state.v[system.tree.links[link].v_range()]);
        }
        let cut = system.cuts.iter().find(|cut| cut.joint == joint);
        Ok(cut.map_or(&[], |cut| &self.work.cut_v[cut.v.clone()]))
    }

    /// Pose of a body's frame in the world.
    pub fn pose(&mut self, body: BodyId) -> Result<Pose, StepError> {
        self.known_body(body)?;
        self.update_current();
        Ok(self.system.view(&self.work.kinematics).body_pose(Some(body)))
    }

    /// Velocity of the origin of a body's frame, and angular velocity, in world axes.
    pub fn twist(&mut self, body: BodyId) -> Result<Twist, StepError> {
        let at = self.pose(body)?.translation;
        Ok(self.system.view(&self.work.kinematics).twist_at(Some(body), &at))
    }

    /// Number of speeds.
    pub fn n_speeds(&self) -> usize {
        self.system.tree.n_v
    }

    /// Where a joint's speeds are among all; none for one that closes a loop or does not exist.
    pub fn speeds_of_joint(&self, joint: JointId) -> Result<Option<Range<usize>>, StepError> {
        let j = self.known_joint(joint)?;
        let wanted = self.system.plan.link_of_joint[j];
        Ok(wanted.and_then(|link| self.ranges().find(|(l, _)| *l == link)).map(|(_, range)| range))
    }

    /// Where the speeds of a body that floats are among all; none for one that joints carry.
    pub fn speeds_of_body(&self, body: BodyId) -> Result<Option<Range<usize>>, StepError> {
        let link = self.system.plan.link_of_body[self.known_body(body)?];
        let floats = self.system.plan.links[link].joint.is_none();
        Ok(self.ranges().find(|(l, _)| floats && *l == link).map(|(_, range)| range))
    }

    /// The mass matrix M of the kinetic energy ½ v·Mv, rotors included.
    pub fn mass_matrix_into(&mut self, out: &mut DMatrix<f64>) {
        self.update_current();
        let places = self.places();
        let tree = &self.system.tree;
        let mass = self.work.kinematics.mass_matrix(tree);
        if out.shape() != mass.shape() {
            *out = DMatrix::zeros(tree.n_v, tree.n_v);
        }
        for i in 0..tree.n_v {
            for k in 0..tree.n_v {
                out[(places[i], places[k])] = mass[(i, k)];
            }
        }
    }

    /// Coriolis, centrifugal and gravity terms h(q, v): M v̇ + h = τ + Jᵀλ, where τ are all other forces.
    pub fn bias_into(&mut self, out: &mut DVector<f64>) {
        let rates = vec![0.0; self.n_speeds()];
        self.find_forces_of(&rates, out);
    }

    /// Forces τ = M v̇ + h along all speeds that go with given rates of them. Where loops are closed, Jᵀλ is part of them.
    pub fn inverse_dynamics(&mut self, rates: &[f64], out: &mut DVector<f64>) -> Result<(), StepError> {
        if rates.len() != self.n_speeds() {
            return Err(StepError::BadOption(format!("{} rates for {} speeds", rates.len(), self.n_speeds())));
        }
        self.gate(rates, "the rates of inverse dynamics")?;
        let mut of_tree = vec![0.0; rates.len()];
        for (at, place) in self.places().into_iter().enumerate() {
            of_tree[at] = rates[place];
        }
        self.find_forces_of(&of_tree, out);
        Ok(())
    }

    /// The Jacobian of a point of a body, given in world coordinates: angular velocity, then velocity, are J v.
    pub fn jacobian_into(&mut self, body: BodyId, at: [f64; 3], out: &mut Matrix6xX<f64>) -> Result<(), StepError> {
        let link = self.system.plan.link_of_body[self.known_body(body)?];
        self.gate(&at, "the point of a Jacobian")?;
        self.update_current();
        let jacobian = self.work.kinematics.jacobian(&self.system.tree, link, &Vec3::from(at));
        if out.ncols() != jacobian.ncols() {
            *out = Matrix6xX::zeros(jacobian.ncols());
        }
        for (at, place) in self.places().into_iter().enumerate() {
            out.set_column(place, &jacobian.column(at));
        }
        Ok(())
    }

    /// Puts the mechanism elsewhere: a state of this simulation, of a clone, or of a checkpoint. What is not finite or does not belong to the
    /// model is refused, and nothing is changed.
    pub fn set_state(&mut self, state: State) -> Result<(), StepError> {
        *self = self.rebuilt(state)?;
        Ok(())
    }

    /// What the last step did; that of nothing before the first.
    pub fn last_report(&self) -> &StepReport {
        &self.last
    }

    /// Mean force over the last step with which body `a` pushes body `b` by all their contacts, strikes included, as a wrench about a
    /// world point. `None` stands for the ground.
    pub fn wrench_between(&self, a: Option<BodyId>, b: Option<BodyId>, about: [f64; 3]) -> Result<Wrench, StepError> {
        for body in [a, b].into_iter().flatten() {
            self.known_body(body)?;
        }
        self.gate(&about, "the point of a wrench")?;
        let mut sum = Wrench::default();
        let h = self.last.step;
        for contact in self.contacts() {
            let sign = match contact.bodies {
                bodies if bodies == [a, b] => 1.0,
                bodies if bodies == [b, a] => -1.0,
                _ => continue,
            };
            let force = contact.impulse_vector() * (sign / h);
            let arm = Vec3::from(contact.point) - Vec3::from(about);
            sum += Wrench::new(arm.cross(&force) + contact.moment_vector() * (sign / h), force);
        }
        Ok(sum)
    }

    /// The gate for numbers that enter from outside.
    pub(crate) fn gate(&self, numbers: &[f64], what: &str) -> Result<(), StepError> {
        if numbers.iter().all(|x| x.is_finite()) {
            return Ok(());
        }
        Err(StepError::NotFinite { time: self.state.time, what: what.to_owned() })
    }

    /// The simulation anew at another state, with everything that is not state.
    fn rebuilt(&self, state: State) -> Result<Self, StepError> {
        let is_same_tree = *state.topology == *self.state.topology;
        let plan = (*self.first_plan).clone();
        let mut fresh = Self::new(self.scene.clone(), plan, self.options, state)?;
        fresh.take_settings(self);
        if !is_same_tree {
            fresh.input.fill(0.0);
        }
        Ok(fresh)
    }

    /// What the user has set.
    fn take_settings(&mut self, of: &Self) {
        self.set_shape(of.system.shape);
        self.system.forces.share_user_loads(&of.system.forces);
        self.system.needs_positions |= self.system.forces.has_user_loads();
        self.work.force_scratch.resize(self.system.forces.n_scratch(), 0.0);
        self.wants_forces = of.wants_forces;
        if self.input.len() == of.input.len() {
            self.input.clone_from(&of.input);
        }
    }

    fn find_forces_of(&mut self, rates: &[f64], out: &mut DVector<f64>) {
        self.update_current();
        let places = self.places();
        let (system, w) = (&self.system, &mut self.work);
        let gravity = system.model.gravity();
        w.kinematics.find_accelerations(&system.tree, &gravity, rates, &mut w.acceleration);
        let motion = (rates, &w.acceleration[..]);
        w.kinematics.find_wrenches(&system.tree, motion, None, &mut w.wrenches, &mut w.joint_forces);
        if out.len() != rates.len() {
            *out = DVector::zeros(rates.len());
        }
        for (at, place) in places.into_iter().enumerate() {
            out[place] = w.joint_forces[at];
        }
    }

    /// Links in the user's order, each with the place of its speeds there.
    fn ranges(&self) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        let (plan, links) = (&self.system.plan, &self.system.tree.links);
        let of_joints = plan.link_of_joint.iter().copied().flatten();
        let floating = plan.link_of_body.iter().copied().filter(|&link| plan.links[link].joint.is_none());
        let mut at = 0;
        of_joints.chain(floating).map(move |link| {
            let start = at;
            at += links[link].n_v as usize;
            (link, start..at)
        })
    }

    /// The place of each of the tree's speeds in the user's order.
    fn places(&self) -> Vec<usize> {
        let mut places = vec![0; self.n_speeds()];
        for (link, range) in self.ranges() {
            for (at, place) in self.system.tree.links[link].v_range().zip(range) {
                places[at] = place;
            }
        }
        places
    }

    pub(crate) fn known_joint(&self, joint: JointId) -> Result<usize, StepError> {
        let j = joint.index();
        let is_known = j < self.scene.joints().len();
        is_known.then_some(j).ok_or_else(|| StepError::BadOption("the model has no such joint".into()))
    }

    pub(crate) fn known_body(&self, body: BodyId) -> Result<usize, StepError> {
        let b = body.index();
        let is_known = b < self.scene.bodies().len();
        is_known.then_some(b).ok_or_else(|| StepError::BadOption("the model has no such body".into()))
    }
}

/// A clone goes on from the same state to the same bits. Loads of the user's own are shared; the last contact problem is left behind.
impl Clone for Simulation {
    fn clone(&self) -> Self {
        let mut system = System::build(self.system.model.clone(), self.system.plan.clone(), self.options.formulation);
        // What was built once can be built again. Should it not be so, the clone says why instead of moving.
        let (stepper, fault) = match ContactStepper::build(&system, &self.options) {
            Ok(stepper) => (stepper, self.fault.clone()),
            Err(error) => (None, Some(error)),
        };
        system.needs_positions |= stepper.is_some();
        let known = (self.scene.clone(), self.first_plan.clone());
        let mut clone = Self::assemble(known, system, self.options, self.state.clone(), stepper);
        clone.take_settings(self);
        clone.reports.clone_from(&self.reports);
        (clone.last, clone.fault) = (self.last, fault);
        if let (Some(to), Some(from)) = (&mut clone.stepper, &self.stepper) {
            to.take_reports(from);
        }
        clone
    }
}

impl ContactReport {
    /// Both tangents; with the normal they are right-handed.
    pub fn tangents(&self) -> [[f64; 3]; 2] {
        let (n, t) = (Vec3::from(self.normal), Vec3::from(self.tangent));
        [self.tangent, n.cross(&t).into()]
    }

    /// Impulse on the second body over the step, world axes. Over the step's length it is the mean force.
    pub fn impulse_vector(&self) -> Vec3 {
        self.in_world(&self.impulse)
    }

    /// Impulse of the moment on the second body about the point, world axes.
    pub fn moment_vector(&self) -> Vec3 {
        self.in_world(&self.moment)
    }

    fn in_world(&self, along: &[f64; 3]) -> Vec3 {
        let axes = [self.normal, self.tangent, self.tangents()[1]];
        axes.iter().zip(along).fold(Vec3::zeros(), |sum, (axis, x)| sum + Vec3::from(*axis) * *x)
    }

    /// The two shapes, by their places in the model: those of the ground first, then body after body.
    pub fn shapes(&self) -> [usize; 2] {
        [(self.id[0] >> 32) as usize, (self.id[0] & 0xffff_ffff) as usize]
    }
}
