//! The whole constrained system from its definition: slow, and obviously right.
//!
//! **Problem.** Accelerations and joint forces of any mechanism, with no use of trees, coordinates or order.
//!
//! **Method.** Six unknown accelerations per body; constraint equations of every joint, tree or loop alike, in the classical
//! form: points that coincide or stay in a plane (u·s = const), directions that stay perpendicular (u·w = 0), twice
//! differentiated [haug1989, vol. I]. The symmetric system  [M Gᵀ; G 0] (a, −λ) = (f, −γ)  is scaled and solved by its
//! eigenvalues and eigenvectors, so that redundant constraints need no special case. Nothing here is shared with the recursions but
//! the frames of the joints.
//!
//! **Cost.** O((6n + m)³), and it allocates.
//!
//! **Fails when** constraints contradict each other; the residual is reported.
//!
//! **Checked by** `tests/dynamics.rs`; it is itself the check of everything else.

mod contact;
mod couplings;
mod formulation;
mod rows;

use crate::model::{BodyId, Joint, Model};
use crate::spatial::{Pose, Sym3, Twist, Vec3, Wrench};
pub(crate) use contact::Solves;
pub(crate) use formulation::Oracle;
use nalgebra::{DMatrix, DVector};
pub use rows::Row;

/// Motion of a body: pose of its body frame, velocity at its centre of mass, world axes.
#[derive(Debug, Clone, Copy, Default)]
pub struct BodyMotion {
    /// Pose of the body frame.
    pub pose: Pose,
    /// Velocity at the centre of mass.
    pub twist: Twist,
}

/// Scratch and result of the oracle.
#[derive(Debug, Clone, Default)]
pub struct Dense {
    /// Acceleration of each body at its centre of mass.
    pub bodies: Vec<Twist>,
    /// Rate of each joint speed, scene order.
    pub joint_acceleration: Vec<f64>,
    /// Whole wrench of each joint on its child, at the child's joint frame; not unique where redundant.
    pub joint_wrenches: Vec<Wrench>,
    /// Force of each condition of couplings, scene order; not a number where one does not act.
    pub coupling_forces: Vec<f64>,
    /// Condition number of the scaled system, over its non-zero singular values.
    pub condition: f64,
    /// Constraints beyond the rank.
    pub n_redundant: usize,
    /// Largest residual of the scaled system, relative to its right-hand side.
    pub residual: f64,
}

/// What drives the mechanism.
#[derive(Debug, Clone, Copy)]
pub struct Drive<'a> {
    /// Wrench of loads on each body at its centre of mass, without gravity.
    pub external: &'a [Wrench],
    /// Force on each joint speed, scene order.
    pub joint_forces: &'a [f64],
    /// Inertia on each joint speed beside that of bodies, scene order.
    pub armature: &'a [f64],
    /// Acceleration of prescribed joint speeds, scene order.
    pub prescribed: &'a [Option<f64>],
    /// Uniform gravitational acceleration.
    pub gravity: Vec3,
}

impl Dense {
    /// For a model.
    pub fn new(model: &Model) -> Self {
        Self {
            bodies: vec![Twist::default(); model.bodies().len()],
            joint_acceleration: vec![0.0; model.n_joint_v()],
            joint_wrenches: vec![Wrench::default(); model.joints().len()],
            coupling_forces: vec![f64::NAN; model.n_coupling_rows()],
            ..Default::default()
        }
    }

    /// Solves for all accelerations and constraint forces.
    pub fn solve(&mut self, model: &Model, motion: &[BodyMotion], drive: &Drive<'_>) {
        let n = 6 * model.bodies().len();
        let mut mass = DMatrix::zeros(n, n);
        let mut force = DVector::zeros(n);
        for (i, body) in model.bodies().iter().enumerate() {
            let inertia = body.central.rotated(&motion[i].pose.rotation);
            let omega = motion[i].twist.angular;
            let torque = drive.external[i].moment - omega.cross(&inertia.times(&omega));
            let push = drive.external[i].force + drive.gravity * body.mass;
            mass.fixed_view_mut::<3, 3>(6 * i, 6 * i).copy_from(&inertia.to_matrix());
            mass.fixed_view_mut::<3, 3>(6 * i + 3, 6 * i + 3).copy_from(&Sym3::scaled_identity(body.mass).to_matrix());
            force.fixed_rows_mut::<3>(6 * i).copy_from(&torque);
            force.fixed_rows_mut::<3>(6 * i + 3).copy_from(&push);
        }
        let mut rows: Vec<(Option<usize>, Row, f64)> = Vec::new();
        for (j, joint) in present(model) {
            let view = rows::JointView::find(model, joint, motion);
            rows.extend(view.constraints(joint).into_iter().map(|row| (Some(j), row, 0.0)));
            for (k, row) in view.speeds(joint).into_iter().enumerate() {
                let v = joint.v.start + k;
                row.add_to(&mut force, drive.joint_forces[v]);
                let rotor = drive.armature[v];
                if rotor > 0.0 {
                    row.add_outer(&mut mass, rotor);
                    row.add_to(&mut force, -rotor * row.bias);
                }
                if let Some(wanted) = drive.prescribed[v] {
                    rows.push((Some(j), row, wanted));
                }
            }
        }
        for lock in model.spin_locks() {
            let view = rows::JointView::find(model, &model.joints()[lock.joint.index()], motion);
            rows.push((Some(lock.joint.index()), view.spin_lock(lock), 0.0));
        }
        let first_coupled = rows.len();
        for coupling in model.couplings().iter().filter(|c| !c.is_absent) {
            rows.extend(couplings::rows(coupling, model, motion).into_iter().map(|row| (None, row, 0.0)));
        }
        let (a, lambda) = self.solve_kkt(model, &mass, &force, &rows);
        for i in 0..model.bodies().len() {
            let part = |k: usize| Vec3::new(a[6 * i + k], a[6 * i + k + 1], a[6 * i + k + 2]);
            self.bodies[i] = Twist::new(part(0), part(3));
        }
        self.joint_wrenches.fill(Wrench::default());
        for ((j, row, _), l) in rows.iter().zip(lambda.iter()) {
            if let Some(j) = j {
                self.joint_wrenches[*j] += row.on_child * *l;
            }
        }
        self.read_couplings(model, motion, &lambda.as_slice()[first_coupled..]);
        for (j, joint) in present(model) {
            let view = rows::JointView::find(model, joint, motion);
            for (k, row) in view.speeds(joint).iter().enumerate() {
                let v = joint.v.start + k;
                self.joint_acceleration[v] = row.value(&self.bodies);
                let rotor = drive.armature[v];
                self.joint_wrenches[j] += row.on_child * (drive.joint_forces[v] - rotor * self.joint_acceleration[v]);
            }
        }
    }

    /// Forces of couplings, and what they add to the wrenches of joints, by the multipliers of their rows.
    fn read_couplings(&mut self, model: &Model, motion: &[BodyMotion], mut lambda: &[f64]) {
        self.coupling_forces.fill(f64::NAN);
        for coupling in model.couplings().iter().filter(|c| !c.is_absent) {
            let (own, rest) = lambda.split_at(coupling.rows.len());
            lambda = rest;
            let forces = couplings::forces(coupling, model, motion, own);
            self.coupling_forces[coupling.rows.clone()].copy_from_slice(&forces);
            for (joint, wrench) in couplings::on_joints(coupling, model, motion, own[0]) {
                self.joint_wrenches[joint] += wrench;
            }
        }
    }

    fn solve_kkt(
        &mut self,
        model: &Model,
        mass: &DMatrix<f64>,
        force: &DVector<f64>,
        rows: &[(Option<usize>, Row, f64)],
    ) -> (DVector<f64>, DVector<f64>) {
        let (n, m) = (mass.nrows(), rows.len());
        if n == 0 {
            return (DVector::zeros(0), DVector::zeros(m));
        }
        let mut kkt = DMatrix::zeros(n + m, n + m);
        let mut rhs = DVector::zeros(n + m);
        kkt.view_mut((0, 0), (n, n)).copy_from(mass);
        rhs.rows_mut(0, n).copy_from(force);
        for (r, (_, row, wanted)) in rows.iter().enumerate() {
            for (body, coefficients) in row.coefficients() {
                for k in 0..6 {
                    kkt[(n + r, 6 * body.index() + k)] += coefficients[k];
                    kkt[(6 * body.index() + k, n + r)] += coefficients[k];
                }
            }
            rhs[n + r] = wanted - row.bias;
        }
        // Units: accelerations in lengths and radians, rows by their largest entry, so that the condition number means
        // something.
        let length = model.characteristic_length();
        let heaviest = mass.diagonal().max();
        let scale = DVector::from_fn(n + m, |i, _| {
            if i < n {
                let unit = if i % 6 < 3 { 1.0 } else { length };
                let own = if i % 6 < 3 { mass[(i, i)].max(1e-6 * heaviest) } else { mass[(i, i)] * length * length };
                unit / own.sqrt()
            } else {
                0.0
            }
        });
        let scale = DVector::from_fn(n + m, |i, _| {
            if i < n {
                scale[i]
            } else {
                let size = (0..n).map(|j| (kkt[(i, j)] * scale[j]).powi(2)).sum::<f64>().sqrt();
                if size > 0.0 { 1.0 / size } else { 1.0 }
            }
        });
        let scaled = DMatrix::from_fn(n + m, n + m, |i, j| kkt[(i, j)] * scale[i] * scale[j]);
        let b = rhs.component_mul(&scale);
        let eigen = scaled.clone().symmetric_eigen();
        let sizes = eigen.eigenvalues.abs();
        let largest = sizes.max();
        let cut = largest * 1e-13 * (n + m) as f64;
        self.condition = largest / sizes.iter().copied().filter(|s| *s > cut).fold(largest, f64::min);
        self.n_redundant = sizes.iter().filter(|s| **s <= cut).count();
        let inverse = eigen.eigenvalues.map(|e| if e.abs() > cut { 1.0 / e } else { 0.0 });
        let solve = |b: &DVector<f64>| {
            let along = eigen.eigenvectors.tr_mul(b).component_mul(&inverse);
            &eigen.eigenvectors * along
        };
        let mut x = solve(&b);
        // Refinement: eigenvectors carry a few roundings more than the solution needs.
        for _ in 0..2 {
            x += solve(&(&b - &scaled * &x));
        }
        self.residual = (&b - &scaled * &x).amax() / b.amax().max(f64::MIN_POSITIVE);
        let x = x.component_mul(&scale);
        (x.rows(0, n).into_owned(), -x.rows(n, m))
    }
}

/// Joints that exist, with their indices.
fn present(model: &Model) -> impl Iterator<Item = (usize, &Joint)> {
    model.joints().iter().enumerate().filter(|(_, joint)| !joint.is_absent)
}

/// A body's acceleration at a world point, from that at its centre of mass.
pub fn acceleration_at(acceleration: &Twist, omega: &Vec3, arm: &Vec3) -> Twist {
    let mut a = acceleration.shifted(arm);
    a.linear += omega.cross(&omega.cross(arm));
    a
}

/// The body of a joint's end.
pub(crate) fn ends(joint: &Joint) -> [Option<BodyId>; 2] {
    [joint.parent, joint.child]
}
