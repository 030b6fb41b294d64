//! Positions and velocities, from the ground outwards.

use super::{Axis, Link, LinkKind, NO_PARENT, Tree};
use crate::model::joint::JointMotion;
use crate::simd::wide;
use crate::spatial::{Mat3, Pose, Twist, Vec3, product};

/// What the sweeps need of a link's motion, in world axes.
#[derive(Debug, Clone, Copy)]
pub struct LinkMotion {
    /// Axes of the link frame.
    pub rotation: Mat3,
    /// From the parent's origin to this one.
    pub offset: Vec3,
    /// Angular velocity.
    pub omega: Vec3,
    /// Acceleration against the parent that is not due to changing speeds.
    pub bias: Twist,
}

impl Default for LinkMotion {
    fn default() -> Self {
        let zero = Vec3::zeros();
        Self { rotation: Mat3::identity(), offset: zero, omega: zero, bias: Twist::default() }
    }
}

/// Motion of all links.
#[derive(Debug, Clone, Default)]
pub struct Kinematics {
    /// Per link.
    pub links: Vec<LinkMotion>,
    /// Unit motion of each speed at its link's origin, general kinds only; see [`Self::unit_motion`].
    pub(crate) columns: Vec<Twist>,
    /// Origin of each link in the world; filled by [`Self::update_positions`].
    pub origin: Vec<Vec3>,
    /// Velocity of each link's origin; filled by [`Self::update_positions`].
    pub velocity: Vec<Vec3>,
    /// Velocity of each link's origin against its parent's point there, general kinds only.
    pub(crate) slide: Vec<Vec3>,
    /// Inertia on each speed beside that of bodies: its rotor, and what a step that takes forces implicitly adds (`force/implicit.rs`).
    pub(crate) armature: Vec<f64>,
    /// Link visits so far, over all sweeps.
    pub work: u64,
}

impl Kinematics {
    /// For a tree.
    pub fn new(tree: &Tree) -> Self {
        let n = tree.links.len();
        Self {
            links: vec![LinkMotion::default(); n],
            columns: vec![Twist::default(); tree.n_v],
            origin: vec![Vec3::zeros(); n],
            velocity: vec![Vec3::zeros(); n],
            slide: vec![Vec3::zeros(); n],
            armature: tree.armature.clone(),
            work: 0,
        }
    }

    /// Unit motion of a speed of link `i` at the link's origin.
    #[inline(always)]
    pub fn unit_motion(&self, i: usize, link: &Link, v: usize) -> Twist {
        match link.kind {
            LinkKind::Revolute(axis) => Twist::new(axis.of(&self.links[i].rotation), Vec3::zeros()),
            LinkKind::General { .. } => self.columns[v],
        }
    }

    /// World pose of a link's frame.
    pub fn pose(&self, link: usize) -> Pose {
        Pose::new(self.links[link].rotation, self.origin[link])
    }

    /// Velocity of a link at its origin.
    pub fn twist(&self, link: usize) -> Twist {
        Twist::new(self.links[link].omega, self.velocity[link])
    }
}

impl Kinematics {
    /// Rotations, offsets, angular velocities and bias accelerations of all links.
    pub fn update(&mut self, tree: &Tree, q: &[f64], v: &[f64]) {
        wide!(self.move_links(tree, q, v));
    }

    #[inline(always)]
    fn move_links(&mut self, tree: &Tree, q: &[f64], v: &[f64]) {
        let ground = LinkMotion::default();
        let mut general = JointMotion::default();
        let Self { links, columns, slide, .. } = self;
        for (i, link) in tree.links.iter().enumerate() {
            let (inside, rest) = links.split_at_mut(i);
            let out = &mut rest[0];
            let inner = if link.parent == NO_PARENT { &ground } else { &inside[link.parent as usize] };
            let spin = inner.omega;
            let arm = product(&inner.rotation, &link.position);
            match link.kind {
                LinkKind::Revolute(axis) => {
                    let turned_axes;
                    let axes = if link.is_parallel {
                        &inner.rotation
                    } else {
                        turned_axes = inner.rotation * link.rotation;
                        &turned_axes
                    };
                    let direction = axis.of(axes);
                    let turn = direction * v[link.v as usize];
                    turn_axes(axes, axis, q[link.q as usize].sin_cos(), &mut out.rotation);
                    out.offset = arm;
                    out.omega = spin + turn;
                    out.bias = Twist::new(spin.cross(&turn), spin.cross(&spin.cross(&arm)));
                }
                LinkKind::General { joint, reversed } => {
                    let axes = inner.rotation * link.rotation;
                    joint.motion(reversed, &q[link.q_range()], &v[link.v_range()], &axes, &mut general);
                    columns[link.v_range()].copy_from_slice(&general.columns[..link.n_v as usize]);
                    slide[i] = general.rate.linear;
                    let offset = arm + general.offset;
                    let linear = spin.cross(&spin.cross(&offset)) + spin.cross(&general.rate.linear) * 2.0;
                    let angular = spin.cross(&general.rate.angular);
                    out.rotation = general.rotation;
                    out.offset = offset;
                    out.omega = spin + general.rate.angular;
                    out.bias = Twist::new(angular, linear) + general.bias;
                }
            }
        }
        self.work += tree.links.len() as u64;
    }

    /// Velocities of all links for other speeds at coordinates whose kinematics are known. Bias accelerations are left alone.
    pub fn update_velocities(&mut self, tree: &Tree, v: &[f64]) {
        let k = self;
        for (i, link) in tree.links.iter().enumerate() {
            let d = k.links[i].offset;
            let inner = link.parent_index().map_or_else(Twist::default, |p| k.twist(p)).shifted(&d);
            let outer = link.v_range().fold(inner, |sum, at| sum + k.unit_motion(i, link, at) * v[at]);
            (k.links[i].omega, k.velocity[i]) = (outer.angular, outer.linear);
        }
        k.work += tree.links.len() as u64;
    }

    /// World positions and velocities of the origins, after [`Self::update`].
    pub fn update_positions(&mut self, tree: &Tree) {
        let k = self;
        for (i, link) in tree.links.iter().enumerate() {
            let d = k.links[i].offset;
            let (origin, velocity, spin) = match link.parent_index() {
                None => (Vec3::zeros(), Vec3::zeros(), Vec3::zeros()),
                Some(p) => (k.origin[p], k.velocity[p], k.links[p].omega),
            };
            k.origin[i] = origin + d;
            k.velocity[i] = velocity + spin.cross(&d) + k.slide[i];
        }
        k.work += tree.links.len() as u64;
    }
}

impl Kinematics {
    /// Velocity of every link at its origin for given speeds, at the present configuration.
    pub fn find_twists(&self, tree: &Tree, v: &[f64], out: &mut [Twist]) {
        for (i, link) in tree.links.iter().enumerate() {
            let inner = link.parent_index().map_or_else(Twist::default, |p| out[p]);
            let motion = &self.links[i];
            let mut t = inner.shifted(&motion.offset);
            match link.kind {
                LinkKind::Revolute(axis) => t.angular += axis.of(&motion.rotation) * v[link.v as usize],
                LinkKind::General { .. } => link.v_range().for_each(|at| t += self.columns[at] * v[at]),
            }
            out[i] = t;
        }
    }
}

/// `axes` turned about one of its own axes, by an angle given by its sine and cosine.
#[inline(always)]
pub(crate) fn turn_axes(axes: &Mat3, axis: Axis, (s, c): (f64, f64), out: &mut Mat3) {
    let (x, y, z): (Vec3, Vec3, Vec3) = (axes.column(0).into(), axes.column(1).into(), axes.column(2).into());
    let turn = |a: &Vec3, b: &Vec3| (a * c + b * s, b * c - a * s);
    let (x, y, z) = match axis {
        Axis::X => {
            let (y, z) = turn(&y, &z);
            (x, y, z)
        }
        Axis::Y => {
            let (z, x) = turn(&z, &x);
            (x, y, z)
        }
        Axis::Z => {
            let (x, y) = turn(&x, &y);
            (x, y, z)
        }
    };
    *out = Mat3::from_columns(&[x, y, z]);
}
