//! Chains, trees and closed loops of bars, passive: no motor drives them.

use super::ground::ANY;
use super::shapes::shape;
use super::{Draft, body};
use crate::math::quaternion;
use signorini::scene::{Body, FrameRef, GROUND, Geometry, Joint, JointKind, PerCoordinate, Spring};

pub(super) fn frame(position: [f64; 3]) -> FrameRef {
    FrameRef::Pose { position, orientation: None }
}

/// A bar along z of a length, its origin in the middle.
fn bar(d: &mut Draft, name: String, length: f64, ratio: f64) -> Body {
    let mut b = body(name);
    b.mass = Some(d.mass(ratio));
    let width = 0.15 * length;
    let geometry = match d.random.count(0, 2) {
        0 => Geometry::Capsule { radius: width, length: 0.6 * length },
        1 => Geometry::Cylinder { radius: width, length: 0.9 * length },
        _ => Geometry::Box { size: [width, width, 0.9 * length] },
    };
    b.shape.push(shape(geometry));
    b
}

/// A hinge or ball joint between the ends of two bars.
fn link(d: &mut Draft, name: String, parent: &str, child: &str, ends: [f64; 2]) -> Joint {
    let kind = d.random.pick(&[JointKind::Revolute, JointKind::Revolute, JointKind::Spherical, JointKind::Universal]);
    let mut joint = Joint {
        name,
        kind,
        parent: parent.to_owned(),
        child: child.to_owned(),
        parent_frame: Some(frame([0.0, 0.0, ends[0]])),
        child_frame: Some(frame([0.0, 0.0, ends[1]])),
        ..Joint::default()
    };
    match kind {
        JointKind::Revolute => {
            joint.axis = Some(d.random.pick(&[[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]));
            joint.q = Some(vec![d.random.between(-0.8, 0.8)]);
        }
        JointKind::Universal => joint.q = Some(vec![d.random.between(-0.6, 0.6), d.random.between(-0.6, 0.6)]),
        _ => {}
    }
    resist(d, &mut joint);
    joint
}

/// Limits, dry friction, damping and springs, each now and then.
fn resist(d: &mut Draft, joint: &mut Joint) {
    let torque = 9.81 * d.size;
    if joint.kind == JointKind::Revolute && d.random.chance(0.3) {
        joint.lower = Some(PerCoordinate::All(-d.random.between(0.8, 2.0)));
        joint.upper = Some(PerCoordinate::All(d.random.between(0.8, 2.0)));
        joint.restitution = Some(d.random.pick(&[0.0, 0.5]));
    }
    if d.random.chance(0.2) {
        joint.friction = Some(PerCoordinate::All(torque * d.random.decades(1e-3, 1.0)));
    }
    if d.random.chance(0.15) {
        joint.damping = Some(PerCoordinate::All(torque * d.random.decades(1e-3, 1e2)));
    }
    if joint.kind == JointKind::Revolute && d.random.chance(0.15) {
        let stiffness = PerCoordinate::All(torque * d.random.decades(1e-1, 1e5));
        joint.spring = Some(Spring { stiffness, rest: None });
    }
}

/// Puts the first body above the ground, with a speed.
fn drop(d: &mut Draft, height: f64, speed: f64) {
    let (at, turn) = (height + d.fall(speed), d.random.rotation());
    let spin = d.random.vector() * if d.random.chance(0.5) { d.random.decades(0.1, 30.0) } else { 0.0 };
    if let Some(first) = d.scene.body.get_mut(1) {
        first.position = Some([0.0, 0.0, at]);
        first.orientation = Some(quaternion(turn));
        first.velocity = Some([0.0, 0.0, -speed]);
        first.angular_velocity = Some([spin.x, spin.y, spin.z]);
    }
}

/// A chain that falls, or swings from a point above the ground.
pub(super) fn chain(d: &mut Draft) {
    let speed = d.speed(20.0);
    d.add_ground(&ANY, speed);
    let n = d.random.count(2, 8);
    let length = d.size / 2.0;
    let ratio = d.random.pick(&[1.0, 100.0, 1e4]);
    for i in 0..n {
        let b = bar(d, format!("b{i}"), length, ratio);
        d.add(b);
        if i > 0 {
            let (parent, child) = (format!("b{}", i - 1), format!("b{i}"));
            let joint = link(d, format!("j{i}"), &parent, &child, [length / 2.0, -length / 2.0]);
            d.scene.joint.push(joint);
        }
    }
    if d.random.chance(0.3) {
        let mut top = link(d, "top".into(), GROUND, "b0", [length * n as f64, -length / 2.0]);
        top.parent_frame = Some(frame([0.0, 0.0, length * n as f64 * d.random.between(0.5, 1.2)]));
        d.scene.joint.push(top);
    } else {
        drop(d, length * n as f64, speed);
    }
}

/// A tree that falls.
pub(super) fn tree(d: &mut Draft) {
    let speed = d.speed(20.0);
    d.add_ground(&ANY, speed);
    let n = d.random.count(3, 7);
    let length = d.size / 2.0;
    for i in 0..n {
        let b = bar(d, format!("b{i}"), length, 100.0);
        d.add(b);
        if i > 0 {
            let end = d.random.pick(&[0.5, -0.5]) * length;
            let parent = format!("b{}", d.random.count(0, i - 1));
            let joint = link(d, format!("j{i}"), &parent, &format!("b{i}"), [end, -length / 2.0]);
            d.scene.joint.push(joint);
        }
    }
    drop(d, length * n as f64, speed);
}

/// A parallelogram of four bars that falls, or whose base stands on the ground.
pub(super) fn ring(d: &mut Draft) {
    let speed = d.speed(20.0);
    d.add_ground(&ANY, speed);
    let (base, crank, angle) = (d.size, d.size * d.random.between(0.4, 0.8), d.random.between(0.5, 1.2));
    let names = ["base", "crank", "coupler", "rocker"];
    for (name, length) in names.iter().zip([base, crank, base, crank]) {
        let b = bar(d, (*name).to_owned(), length, 100.0);
        d.add(b);
    }
    // Bars along their z axes; angles about y.
    let mut hinge = |name: &str, [parent, child]: [usize; 2], ends: [f64; 2], q: f64| {
        d.scene.joint.push(Joint {
            name: name.to_owned(),
            kind: JointKind::Revolute,
            parent: names[parent].to_owned(),
            child: names[child].to_owned(),
            parent_frame: Some(frame([0.0, 0.0, ends[0]])),
            child_frame: Some(frame([0.0, 0.0, ends[1]])),
            axis: Some([0.0, 1.0, 0.0]),
            q: Some(vec![q]),
            ..Joint::default()
        });
    };
    hinge("left", [0, 1], [-base / 2.0, -crank / 2.0], angle);
    hinge("upper", [1, 2], [crank / 2.0, -base / 2.0], -angle);
    hinge("right", [0, 3], [base / 2.0, -crank / 2.0], angle);
    hinge("closing", [2, 3], [base / 2.0, crank / 2.0], angle);
    if d.random.chance(0.3) {
        let mut joint = d.scene.joint[0].clone();
        resist(d, &mut joint);
        // Limits would be about another zero.
        (joint.lower, joint.upper, joint.restitution) = (None, None, None);
        d.scene.joint[0] = joint;
    }
    drop(d, base + crank, speed);
}
