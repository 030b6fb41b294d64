//! Random mechanisms, and the one place that scales tolerances.
#![allow(dead_code)]

use signorini::scene::*;
use signorini::spatial::{Pose, Quaternion, Vec3};
use signorini::step::{Observation, Simulation, build};

/// All joint kinds.
pub const KINDS: [JointKind; 9] = [
    JointKind::Fixed,
    JointKind::Revolute,
    JointKind::Prismatic,
    JointKind::Screw,
    JointKind::Cylindrical,
    JointKind::Universal,
    JointKind::Spherical,
    JointKind::Planar,
    JointKind::Free,
];

/// A small deterministic generator (SplitMix64).
pub struct Rng(pub u64);

impl Rng {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
    pub fn range(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * self.unit()
    }
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }
    pub fn vector(&mut self, size: f64) -> [f64; 3] {
        [(); 3].map(|()| self.range(-size, size))
    }
    pub fn quaternion(&mut self) -> [f64; 4] {
        Quaternion([(); 4].map(|()| self.range(-1.0, 1.0))).normalised().0
    }
    fn frame(&mut self) -> FrameRef {
        FrameRef::Pose { position: self.vector(0.5), orientation: Some(self.quaternion()) }
    }
}

pub fn random_body(rng: &mut Rng, name: String) -> Body {
    // A cloud of three point masses and a ball is a body of any inertia that exists.
    let mass = rng.range(0.5, 2.0);
    let (a, b, c) = (rng.range(0.02, 0.1), rng.range(0.02, 0.1), rng.range(0.02, 0.1));
    let principal = Vec3::new(b + c, a + c, a + b) * mass;
    let r = Quaternion(rng.quaternion()).to_matrix();
    let i = r * nalgebra::Matrix3::from_diagonal(&principal) * r.transpose();
    let inertia = vec![i[(0, 0)], i[(1, 1)], i[(2, 2)], i[(0, 1)], i[(0, 2)], i[(1, 2)]];
    Body { name, mass: Some(mass), com: Some(rng.vector(0.3)), inertia: Some(inertia), ..Default::default() }
}

pub fn random_coordinates(rng: &mut Rng, kind: JointKind) -> Vec<f64> {
    let quat = rng.quaternion();
    let mut plain = |n: usize| (0..n).map(|_| rng.range(-1.0, 1.0)).collect::<Vec<_>>();
    match kind {
        JointKind::Spherical => quat.to_vec(),
        JointKind::Free => [plain(3), quat.to_vec()].concat(),
        _ => plain(kind.n_q()),
    }
}

/// Which extras a random joint may carry.
#[derive(Clone, Copy)]
pub struct Extras {
    pub fittings: bool,
    pub motions: bool,
}

pub fn random_joint(rng: &mut Rng, name: String, kind: JointKind, bodies: (String, String), extras: Extras) -> Joint {
    let (mut parent, mut child) = bodies;
    if rng.chance(0.5) {
        std::mem::swap(&mut parent, &mut child);
    }
    let axis = Vec3::from(rng.vector(1.0)).normalize();
    let axis2 = axis.cross(&Vec3::from(rng.vector(1.0))).normalize();
    let has_axis = !matches!(kind, JointKind::Fixed | JointKind::Spherical | JointKind::Free);
    let n = kind.n_v();
    let each = |rng: &mut Rng, scale: f64| {
        (n > 0).then(|| PerCoordinate::Each((0..n).map(|_| rng.range(0.0, scale)).collect()))
    };
    let mut joint = Joint {
        name,
        kind,
        parent,
        child,
        parent_frame: Some(rng.frame()),
        child_frame: Some(rng.frame()),
        axis: has_axis.then(|| axis.into()),
        axis2: matches!(kind, JointKind::Universal | JointKind::Planar).then(|| axis2.into()),
        pitch: (kind == JointKind::Screw).then(|| rng.range(-2.0, 2.0)),
        q: Some(random_coordinates(rng, kind)),
        v: Some((0..n).map(|_| rng.range(-1.0, 1.0)).collect()),
        ..Default::default()
    };
    if extras.fittings && n > 0 {
        if rng.chance(0.5) {
            let stiffness = each(rng, 3.0).unwrap();
            joint.spring = Some(Spring { stiffness, rest: Some(random_coordinates(rng, kind)) });
        }
        if rng.chance(0.5) {
            joint.damping = each(rng, 0.5);
        }
        if rng.chance(0.5) {
            joint.armature = each(rng, 0.3);
        }
        if rng.chance(0.5) {
            let value = Signal::Constant(rng.range(-2.0, 2.0));
            joint.motor.push(Motor::Torque { coordinate: rng.below(n), value });
        }
        if rng.chance(0.5) && !matches!(kind, JointKind::Spherical | JointKind::Free) {
            let target = Signal::Constant(rng.range(-1.0, 1.0));
            let coordinate = rng.below(n);
            joint.motor.push(Motor::Servo {
                coordinate,
                target,
                stiffness: 2.0,
                damping: 0.3,
                limit: None,
                compensate_gravity: false,
            });
        }
    }
    if extras.motions && n > 0 && !matches!(kind, JointKind::Spherical | JointKind::Free) && rng.chance(0.3) {
        let coordinate = rng.below(n);
        let (start, rate) = (joint.q.as_ref().unwrap()[coordinate], joint.v.as_ref().unwrap()[coordinate]);
        let position =
            Signal::Varying(Varying::Sine { amplitude: rate / 2.0, angular_frequency: 2.0, phase: 0.0, offset: start });
        joint.motor.retain(|m| match m {
            Motor::Torque { coordinate: c, .. }
            | Motor::Servo { coordinate: c, .. }
            | Motor::Velocity { coordinate: c, .. }
            | Motor::Motion { coordinate: c, .. } => *c != coordinate,
        });
        joint.motor.push(Motor::Motion { coordinate, position });
    }
    joint
}

/// A random tree of `n` bodies. `branching` is the chance that a body does not hang on the one before it.
pub fn random_tree(rng: &mut Rng, n: usize, branching: f64, kinds: &[JointKind], extras: Extras) -> Scene {
    let mut scene = Scene { gravity: rng.vector(10.0), ..Default::default() };
    scene.time.end = 1.0;
    let floating = rng.chance(0.3);
    for i in 0..n {
        let name = format!("b{i}");
        let mut body = random_body(rng, name.clone());
        if i == 0 && floating {
            body.position = Some(rng.vector(1.0));
            body.orientation = Some(rng.quaternion());
            body.velocity = Some(rng.vector(1.0));
            body.angular_velocity = Some(rng.vector(1.0));
        } else {
            let on = match () {
                _ if i == 0 => GROUND.to_string(),
                _ if rng.chance(branching) => format!("b{}", rng.below(i)),
                _ => format!("b{}", i - 1),
            };
            let kind = kinds[rng.below(kinds.len())];
            scene.joint.push(random_joint(rng, format!("j{i}"), kind, (on, name), extras));
        }
        scene.body.push(body);
    }
    if extras.fittings {
        let end = |rng: &mut Rng| Attachment { body: format!("b{}", rng.below(n)), point: rng.vector(0.5) };
        let (a, mut b) = (end(rng), end(rng));
        if a.body == b.body {
            b.body = GROUND.into();
        }
        scene.force.push(Force::Spring { name: "spring".into(), a, b, stiffness: 3.0, length: 0.4, damping: 0.2 });
        let body = format!("b{}", rng.below(n));
        let (vector, point) = (rng.vector(2.0), Some(rng.vector(0.4)));
        scene.force.push(Force::Force {
            name: "push".into(),
            body: body.clone(),
            point,
            vector,
            axes: Axes::Body,
            signal: None,
        });
        scene.force.push(Force::Torque { name: "twist".into(), body, vector, axes: Axes::World, signal: None });
    }
    scene
}

/// World poses of the body frames of a scene's initial configuration.
pub fn initial_poses(scene: &Scene) -> Vec<Pose> {
    let built = build(scene).unwrap();
    let com: Vec<Vec3> = built.model.bodies().iter().map(|b| b.com).collect();
    let mut simulation = Simulation::new(built.model, built.plan, Default::default(), built.state).unwrap();
    let mut seen = Observation::default();
    simulation.observe(false, &mut seen).unwrap();
    let poses = seen.bodies.iter().zip(com).map(|(b, com)| {
        let rotation = Quaternion(b.orientation).to_matrix();
        Pose::new(rotation, Vec3::from(b.position) - rotation * com)
    });
    poses.collect()
}

/// Adds a joint of a given kind between two bodies (or the ground) so that it is closed at the initial configuration.
pub fn close_loop(rng: &mut Rng, scene: &mut Scene, name: &str, kind: JointKind, ends: (&str, &str), extras: Extras) {
    let poses = initial_poses(scene);
    let pose = |name: &str| match scene.body.iter().position(|b| b.name == name) {
        Some(i) => poses[i],
        None => Pose::identity(),
    };
    let mut joint = random_joint(rng, name.into(), kind, (ends.0.into(), ends.1.into()), extras);
    let Some(FrameRef::Pose { position, orientation }) = joint.parent_frame else { unreachable!() };
    let on_parent = Pose::from_parts(position, orientation);
    let (axis, axis2) = joint.axes();
    let align = match kind {
        JointKind::Fixed | JointKind::Spherical | JointKind::Free => nalgebra::Matrix3::identity(),
        JointKind::Universal => nalgebra::Matrix3::from_columns(&[axis, axis2, axis.cross(&axis2)]),
        JointKind::Planar => nalgebra::Matrix3::from_columns(&[axis2, axis.cross(&axis2), axis]),
        _ => signorini::spatial::rotation_from_z(&axis),
    };
    let align = Pose::new(align, Vec3::zeros());
    let lead = joint.pitch.unwrap_or(0.0) / std::f64::consts::TAU;
    let moved = signorini::model::joint::JointType { kind, lead }.pose(joint.q.as_ref().unwrap());
    let on_child = pose(&joint.child).inverse() * pose(&joint.parent) * on_parent * align * moved * align.inverse();
    joint.child_frame = Some(FrameRef::Pose {
        position: on_child.translation.into(),
        orientation: Some(Quaternion::from_matrix(&on_child.rotation).0),
    });
    joint.v = None;
    if [ends.0, ends.1].contains(&GROUND) {
        // The mechanism no longer floats.
        scene.body.iter_mut().for_each(|b| (b.velocity, b.angular_velocity) = (None, None));
    }
    scene.joint.push(joint);
}

pub fn max_abs(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, x| m.max(x.abs()))
}

/// A hanging chain of revolute links with alternating axes, slightly bent and moving.
pub fn chain(n: usize) -> Scene {
    let mut scene = Scene { gravity: [0.0, 0.0, -9.81], ..Default::default() };
    scene.time.end = 1.0;
    for i in 0..n {
        let name = format!("l{i}");
        let (across, along) = (0.01 / 3.0 + 1e-4 / 3.0, 2e-4 / 3.0);
        scene.body.push(Body {
            name: name.clone(),
            mass: Some(1.0),
            com: Some([0.0, 0.0, -0.1]),
            inertia: Some(vec![across, across, along]),
            ..Default::default()
        });
        scene.joint.push(Joint {
            name: format!("j{i}"),
            kind: JointKind::Revolute,
            parent: if i == 0 { GROUND.into() } else { format!("l{}", i - 1) },
            child: name,
            parent_frame: (i > 0).then_some(FrameRef::Pose { position: [0.0, 0.0, -0.2], orientation: None }),
            axis: Some(if i % 2 == 0 { [0.0, 1.0, 0.0] } else { [1.0, 0.0, 0.0] }),
            q: Some(vec![0.1 * (1.0 + i as f64).sin()]),
            v: Some(vec![0.1 * (2.0 + i as f64).cos()]),
            ..Default::default()
        });
    }
    scene
}
