//! Machines: a gripper that holds a box, an arm with servos, limits and dry friction beside a loose body.

use super::ground::ANY;
use super::linked::frame;
use super::shapes::{any, shape};
use super::{Draft, body};
use crate::facts::reach;
use signorini::scene::{GROUND, Geometry, Interpolation, Joint, JointKind, Motor, PerCoordinate, Signal, Varying};

/// Two fingers press on a box with more than they need, at rest, lifted or swung.
pub(super) fn grasp(d: &mut Draft) {
    let (size, mass) = (d.size, d.mass(100.0));
    let friction = d.random.between(0.2, 1.0);
    d.scene.material[0].friction = Some(friction.into());
    d.scene.material[0].restitution = Some(0.0);
    let height = 5.0 * size;
    // Lifted by an amplitude with the acceleration of a sine.
    let rate = 6.0 / d.end;
    let acceleration = if d.random.chance(0.5) { 0.0 } else { 9.81 * d.random.between(0.1, 0.8) };
    let needed = mass * (9.81 + acceleration) / (2.0 * friction);
    let force = needed * d.random.decades(1.1, 100.0);
    let motion =
        |amplitude: f64| Signal::Varying(Varying::Sine { amplitude, angular_frequency: rate, phase: 0.0, offset: 0.0 });
    let lift = if acceleration == 0.0 { Signal::Constant(0.0) } else { motion(-acceleration / (rate * rate)) };
    let mut hand = body("hand");
    (hand.mass, hand.inertia) = (Some(mass), Some(vec![mass * size * size; 3]));
    d.add(hand);
    d.scene.joint.push(Joint {
        name: "lift".into(),
        kind: JointKind::Prismatic,
        parent: GROUND.into(),
        child: "hand".into(),
        parent_frame: Some(frame([0.0, 0.0, height])),
        motor: vec![Motor::Motion { coordinate: 0, position: lift }],
        ..Joint::default()
    });
    let thick = 0.1 * size;
    for (name, side) in [("left", -1.0), ("right", 1.0)] {
        let mut finger = body(name);
        finger.mass = Some(0.1 * mass);
        finger.shape.push(shape(Geometry::Box { size: [thick, 0.4 * size, 0.6 * size] }));
        d.add(finger);
        d.scene.joint.push(Joint {
            name: format!("press-{name}"),
            kind: JointKind::Prismatic,
            parent: "hand".into(),
            child: name.into(),
            parent_frame: Some(frame([side * (size + thick) / 2.0, 0.0, -size])),
            axis: Some([-side, 0.0, 0.0]),
            motor: vec![Motor::Torque { coordinate: 0, value: Signal::Constant(force) }],
            ..Joint::default()
        });
    }
    let mut load = body("load");
    load.mass = Some(mass);
    load.position = Some([0.0, 0.0, height - size]);
    // It moves with the hand.
    load.velocity = Some([0.0, 0.0, if acceleration == 0.0 { 0.0 } else { -acceleration / rate }]);
    load.shape.push(shape(Geometry::Box { size: [size; 3] }));
    d.add(load);
}

/// An arm from the ground, half of the time driven by servos, and a loose body that it may meet.
pub(super) fn arm(d: &mut Draft) {
    d.add_ground(&ANY[..3], 0.0);
    let n = d.random.count(2, 5);
    let length = d.size / 2.0;
    let is_driven = d.random.chance(0.5);
    let torque = 9.81 * d.size;
    for i in 0..n {
        let mut b = body(format!("l{i}"));
        b.mass = Some(d.mass(100.0));
        let width = 0.2 * length;
        b.shape.push(shape(Geometry::Box { size: [width, width, 0.8 * length] }));
        let parent = if i == 0 { GROUND.to_owned() } else { format!("l{}", i - 1) };
        let at = if i == 0 { 0.8 * d.size } else { length / 2.0 };
        let mut joint = Joint {
            name: format!("j{i}"),
            kind: JointKind::Revolute,
            parent,
            child: b.name.clone(),
            parent_frame: Some(frame([0.0, 0.0, at])),
            child_frame: Some(frame([0.0, 0.0, -length / 2.0])),
            axis: Some(d.random.pick(&[[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])),
            q: Some(vec![d.random.between(-1.0, 1.0)]),
            v: Some(vec![d.random.between(-3.0, 3.0)]),
            ..Joint::default()
        };
        if d.random.chance(0.6) {
            joint.lower = Some(PerCoordinate::All(-d.random.between(1.0, 2.0)));
            joint.upper = Some(PerCoordinate::All(d.random.between(1.0, 2.0)));
        }
        if d.random.chance(0.4) {
            joint.friction = Some(PerCoordinate::All(torque * d.random.decades(1e-4, 1.0)));
        }
        if d.random.chance(0.3) {
            joint.armature = Some(PerCoordinate::All(d.size * d.size * d.random.decades(1e-4, 1e-1)));
        }
        if is_driven {
            let stiffness = torque * d.random.decades(1.0, 1e4);
            let target = Signal::Varying(Varying::Table {
                times: vec![0.0, d.end],
                values: vec![joint.q.as_ref().map_or(0.0, |q| q[0]), d.random.between(-1.0, 1.0)],
                interpolation: Some(Interpolation::Cubic),
            });
            let damping = stiffness * d.random.decades(0.01, 0.3);
            let (limit, compensate_gravity) = (None, false);
            joint.motor.push(Motor::Servo { coordinate: 0, target, stiffness, damping, limit, compensate_gravity });
        } else if d.random.chance(0.4) {
            joint.damping = Some(PerCoordinate::All(torque * d.random.decades(1e-3, 1e3)));
        }
        d.add(b);
        d.scene.joint.push(joint);
    }
    let geometry = any(&mut d.random, d.size * 0.5);
    let mut loose = body("loose");
    loose.mass = Some(d.mass(100.0));
    loose.position = Some([d.size * d.random.between(0.5, 1.0), 0.0, reach(&geometry) + 0.01 * d.size]);
    loose.velocity = Some([d.size * d.random.between(-5.0, 0.0), 0.0, 0.0]);
    loose.shape.push(shape(geometry));
    d.add(loose);
}
