//! The oracle as a formulation. What it borrows from the recursion: kinematics, the closing of rows, and forces of rows that go with
//! what joints transmit, since its own multipliers belong to other equations.

use super::{BodyMotion, Dense, Drive as BodyDrive};
use crate::dynamics::error::DynamicsError;
use crate::dynamics::formulation::{Answer, Counters, Drive, Formulation, JumpStart, Posed};
use crate::dynamics::jump::Jumped;
use crate::dynamics::recursive::Recursive;
use crate::dynamics::row::{Element, Level, RowKind, RowSet};
use crate::dynamics::system::System;
use crate::dynamics::tree::Kinematics;
use crate::model::{BodyId, Model};
use crate::spatial::{Twist, Vec3, Wrench};

/// The whole constrained system, beside the recursion.
#[derive(Debug, Clone)]
pub(crate) struct Oracle {
    pub recursive: Recursive,
    dense: Dense,
}

impl Oracle {
    pub fn new(system: &System, rows: &RowSet) -> Self {
        Self { recursive: Recursive::new(system, rows), dense: Dense::new(&system.model) }
    }

    /// What impulses do to a mechanism: the change of speeds.
    pub fn respond(&mut self, at: &Posed<'_>, tau: &[f64], external: &[Wrench], out: &mut [f64]) {
        let mut motion = at.system.body_motions(at.kinematics);
        motion.iter_mut().for_each(|m| m.twist = Twist::default());
        let joints = at.system.model.joints().iter();
        let held = joints.flat_map(|joint| (0..joint.v.len()).map(|k| joint.fittings.motion(k).map(|_| 0.0)));
        let prescribed: Vec<Option<f64>> = held.collect();
        self.solve_bodies(at, (tau, external), &motion, (&prescribed, Vec3::zeros()), out);
    }

    /// Accelerations, or changes, of all speeds for loads on speeds and links.
    fn solve_bodies(
        &mut self,
        at: &Posed<'_>,
        (tau, on_links): (&[f64], &[Wrench]),
        motion: &[BodyMotion],
        (prescribed, gravity): (&[Option<f64>], Vec3),
        out: &mut [f64],
    ) {
        let (system, model) = (at.system, &*at.system.model);
        let mut joint_forces = vec![0.0; model.n_joint_v()];
        let mut armature = rotors(model);
        let mut external = vec![Wrench::default(); model.bodies().len()];
        for (j, joint) in model.joints().iter().enumerate() {
            if let Some(link) = system.plan.link_of_joint[j] {
                let range = system.tree.links[link].v_range();
                joint_forces[joint.v.clone()].copy_from_slice(&tau[range.clone()]);
                armature[joint.v.clone()].copy_from_slice(&at.kinematics.armature[range]);
            }
        }
        for (i, link) in system.plan.links.iter().enumerate() {
            let com = at.kinematics.links[i].rotation * system.tree.links[i].inertia.com;
            let at_com = on_links[i].shifted(&-com);
            external[link.body.index()] += at_com;
            if link.joint.is_none() {
                // The floating base's own joint sits at the centre of mass: translations in world axes, rotations in body axes.
                let tau = &tau[system.tree.links[i].v_range()];
                let torque = motion[link.body.index()].pose.rotation * Vec3::new(tau[3], tau[4], tau[5]);
                external[link.body.index()] += Wrench::new(torque, Vec3::new(tau[0], tau[1], tau[2]));
            }
        }
        let drive =
            BodyDrive { external: &external, joint_forces: &joint_forces, armature: &armature, prescribed, gravity };
        self.dense.solve(model, motion, &drive);
        for (i, link) in system.plan.links.iter().enumerate() {
            let range = system.tree.links[i].v_range();
            match link.joint {
                Some(j) => {
                    let joint = &model.joints()[j.index()];
                    // What is prescribed is known to the bit. Rounding in its place would be all the motion there is in a
                    // mechanism that is locked and at rest, and no step would be short enough for it.
                    let found = joint.v.clone().map(|v| prescribed[v].unwrap_or(self.dense.joint_acceleration[v]));
                    out[range].iter_mut().zip(found).for_each(|(to, from)| *to = from);
                }
                None => {
                    let a = self.dense.bodies[link.body.index()];
                    write_floating(&a, &motion[link.body.index()], &mut out[range]);
                }
            }
        }
    }

    /// Rates that a drive gives to prescribed speeds, in the scene's order of joints.
    fn prescribed(at: &Posed<'_>, held: &[f64]) -> Vec<Option<f64>> {
        let (system, model) = (at.system, &at.system.model);
        let mut prescribed = vec![None; model.n_joint_v()];
        for row in at.rows.iter() {
            if let (RowKind::Prescribed(k), Element::Joint(cut)) = (row.kind, &system.elements[row.element]) {
                prescribed[model.joints()[system.cuts[*cut].joint.index()].v.start + k] = Some(row.wanted);
            }
        }
        for (link, k, _) in &system.motions {
            if let Some(joint) = system.plan.links[*link].joint {
                let at = model.joints()[joint.index()].v.start + k;
                prescribed[at] = Some(held[system.tree.links[*link].v as usize + k]);
            }
        }
        prescribed
    }
}

/// Rotor inertia of each joint speed, scene order.
fn rotors(model: &Model) -> Vec<f64> {
    let mut rotors = vec![0.0; model.n_joint_v()];
    for joint in model.joints().iter().filter(|j| !j.is_absent) {
        rotors[joint.v.clone()].iter_mut().zip(&joint.fittings.armature).for_each(|(to, from)| *to = *from);
    }
    rotors
}

/// A floating body's acceleration (or velocity) at its centre of mass, as rates of its six speeds.
fn write_floating(a: &Twist, motion: &BodyMotion, out: &mut [f64]) {
    let turn = motion.pose.rotation.tr_mul(&a.angular);
    out[..3].copy_from_slice(a.linear.as_slice());
    out[3..].copy_from_slice(turn.as_slice());
}

impl System {
    /// Motion of all bodies as the oracle wants it.
    pub(crate) fn body_motions(&self, kinematics: &Kinematics) -> Vec<BodyMotion> {
        let view = self.view(kinematics);
        let bodies = self.model.bodies().iter().enumerate().map(|(b, body)| {
            let id = Some(BodyId(b as u32));
            let pose = view.body_pose(id);
            BodyMotion { pose, twist: view.twist_at(id, &pose.point(&body.com)) }
        });
        bodies.collect()
    }
}

impl Formulation for Oracle {
    fn place(&mut self, system: &System, q: &[f64], v: &[f64], out: &mut Kinematics) {
        self.recursive.place(system, q, v, out);
    }

    fn place_origins(&mut self, system: &System, out: &mut Kinematics) {
        self.recursive.place_origins(system, out);
    }

    fn factor(&mut self, at: &Posed<'_>, tau: &[f64], held: &[f64], rotors: bool) {
        self.recursive.factor(at, tau, held, rotors);
    }

    fn close(&mut self, at: &Posed<'_>, rhs: &[f64], out: &mut [f64]) {
        self.recursive.close(at, rhs, out);
    }

    fn solve(&mut self, at: &Posed<'_>, drive: &Drive<'_>, out: &mut Answer<'_>) -> Result<(), DynamicsError> {
        if drive.level == Level::Jump {
            return self.recursive.solve(at, drive, out);
        }
        let motion = at.system.body_motions(at.kinematics);
        let prescribed = Self::prescribed(at, drive.held);
        let none = vec![Wrench::default(); at.system.tree.links.len()];
        let external = drive.external.unwrap_or(&none);
        self.solve_bodies(at, (drive.tau, external), &motion, (&prescribed, drive.gravity), out.rates);
        Ok(())
    }

    fn react(&mut self, at: &Posed<'_>, drive: &Drive<'_>, out: &mut Answer<'_>) -> Result<(), DynamicsError> {
        self.recursive.solve(at, drive, out)
    }

    /// Momenta for forces, velocities after for accelerations.
    fn override_jump(
        &mut self,
        at: &Posed<'_>,
        start: &JumpStart<'_>,
        v: &mut [f64],
        jumped: &mut Jumped,
    ) -> Result<(), DynamicsError> {
        let JumpStart { now, was, before } = *start;
        let (system, model, kinematics) = (at.system, &*at.system.model, at.kinematics);
        let arm = |i: usize| kinematics.links[i].rotation * system.tree.links[i].inertia.com;
        let mut motion = vec![BodyMotion::default(); model.bodies().len()];
        let mut momenta = vec![Wrench::default(); model.bodies().len()];
        let view = system.view(kinematics);
        for (i, link) in system.plan.links.iter().enumerate() {
            let body = &model.bodies()[link.body.index()];
            let pose = view.body_pose(Some(link.body));
            let twist = before.twists[i].shifted(&arm(i));
            let inertia = body.central.rotated(&pose.rotation);
            motion[link.body.index()] = BodyMotion { pose, twist: Twist::default() };
            momenta[link.body.index()] = Wrench::new(inertia.times(&twist.angular), twist.linear * body.mass)
                + before.struck[i].shifted(&-arm(i));
        }
        let mut joint_forces = vec![0.0; model.n_joint_v()];
        let armature = rotors(model);
        let mut prescribed = vec![None; model.n_joint_v()];
        for (j, joint) in model.joints().iter().enumerate().filter(|(_, j)| !j.is_absent) {
            for k in 0..joint.v.len() {
                let slot = joint.v.start + k;
                prescribed[slot] = joint.fittings.motion(k).map(|s| s.at(now)[1]);
                joint_forces[slot] = armature[slot] * speed_before(at, was, j, k);
            }
        }
        let drive = BodyDrive {
            external: &momenta,
            joint_forces: &joint_forces,
            armature: &armature,
            prescribed: &prescribed,
            gravity: Vec3::zeros(),
        };
        self.dense.solve(model, &motion, &drive);
        for (i, link) in system.plan.links.iter().enumerate() {
            let after = self.dense.bodies[link.body.index()];
            jumped.twists[i] = after.shifted(&-arm(i)) - before.twists[i];
            let range = system.tree.links[i].v_range();
            match link.joint {
                Some(j) => {
                    let slots = model.joints()[j.index()].v.clone();
                    v[range].copy_from_slice(&self.dense.joint_acceleration[slots]);
                }
                None => write_floating(&after, &motion[link.body.index()], &mut v[range]),
            }
        }
        for (link, k, signal) in &system.motions {
            v[system.tree.links[*link].v as usize + k] = signal.at(now)[1];
        }
        for (j, _) in model.joints().iter().enumerate().filter(|(_, j)| !j.is_absent) {
            jumped.impulses[j] = self.dense.joint_wrenches[j].to_array();
        }
        jumped.coupling_impulses.clone_from(&self.dense.coupling_forces);
        Ok(())
    }

    fn is_direct(&self) -> bool {
        false
    }

    fn accelerate_at_once(
        &mut self,
        _: &System,
        _: (&[f64], &[f64]),
        _: &Drive<'_>,
        _: &mut [f64],
    ) -> Option<Result<(), DynamicsError>> {
        None
    }

    fn dependent_rows(&self, out: &mut Vec<usize>) {
        self.recursive.dependent_rows(out);
    }

    fn regularity(&self) -> (usize, f64) {
        self.recursive.regularity()
    }

    fn inherit(&mut self, _: &Posed<'_>, _: &mut Self, _: &Posed<'_>, _: &[f64]) {}

    fn count_on(&mut self, work: Counters) {
        self.recursive.count_on(work);
    }

    fn counters(&self) -> Counters {
        self.recursive.counters()
    }

    fn oracle(&self) -> Option<&Dense> {
        Some(&self.dense)
    }
}

/// A joint's speed before a jump: the tree's, or what a cut joint measured.
fn speed_before(at: &Posed<'_>, was: &[f64], joint: usize, k: usize) -> f64 {
    let system = at.system;
    if let Some(link) = system.plan.link_of_joint[joint] {
        return was[system.tree.links[link].v as usize + k];
    }
    let cut = system.cuts.iter().position(|cut| cut.joint.index() == joint);
    cut.map_or(0.0, |c| at.closures[c].relative.dot(&at.closures[c].measures[k]))
}
