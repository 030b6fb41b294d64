//! Free bodies.

use super::ground::ANY;
use super::shapes::{any, odd, shape, standing};
use super::{Draft, body};
use crate::facts::reach;
use crate::math::{array, quaternion};
use nalgebra::Vector3;
use signorini::scene::{Geometry, Joint, JointKind};

/// Fast bodies of any shape against any ground.
pub(super) fn throw(d: &mut Draft) {
    let speed = d.speed(1000.0);
    d.add_ground(&ANY, speed);
    for i in 0..d.random.count(1, 2) {
        let geometry = odd(&mut d.random, d.size);
        let velocity = {
            let v = d.random.direction() * speed;
            Vector3::new(v.x, v.y, -v.z.abs())
        };
        let height = reach(&geometry) + d.fall(velocity.z.abs()) + i as f64 * 3.0 * d.size;
        let spin = d.random.direction() * (d.random.decades(0.1, 1000.0));
        let mut b = body(format!("b{i}"));
        b.mass = Some(d.mass(1e4));
        b.position = Some([0.1 * d.size * d.random.unit(), 0.0, height]);
        b.orientation = Some(quaternion(d.random.rotation()));
        b.velocity = Some(array(velocity));
        b.angular_velocity = Some(array(if d.random.chance(0.5) { spin } else { Vector3::zeros() }));
        b.shape.push(shape(geometry));
        d.add(b);
    }
}

/// Bodies that fall on each other.
pub(super) fn pile(d: &mut Draft) {
    let speed = d.speed(30.0);
    d.add_ground(&ANY, speed);
    let mut height = d.fall(speed);
    for i in 0..d.random.count(3, 7) {
        let geometry = any(&mut d.random, d.size);
        let r = reach(&geometry);
        let mut b = body(format!("b{i}"));
        b.mass = Some(d.mass(1e4));
        b.position = Some([d.size * d.random.between(-0.3, 0.3), d.size * d.random.between(-0.3, 0.3), height + r]);
        b.orientation = Some(quaternion(d.random.rotation()));
        b.velocity = Some([0.0, 0.0, -speed]);
        b.shape.push(shape(geometry));
        height += 2.0 * r + 0.01 * d.size;
        d.add(b);
    }
}

/// Bodies that stand on each other; some a little above or within the one below.
pub(super) fn stack(d: &mut Draft) {
    d.add_ground(&ANY[..3], 0.0);
    let is_exact = d.random.chance(0.5);
    let (mut height, mut radius) = (0.0, f64::INFINITY);
    for i in 0..d.random.count(2, 6) {
        let (geometry, h) = standing(&mut d.random, d.size);
        // Half of what lies below is enough to stand on in the middle.
        let off = if i == 0 { 0.0 } else { 0.05 * d.size.min(radius) };
        let gap = if is_exact { 0.0 } else { d.size * d.random.between(-1e-3, 1e-3) };
        let mut b = body(format!("b{i}"));
        b.mass = Some(d.mass(1e6));
        b.position =
            Some([off * d.random.between(-1.0, 1.0), off * d.random.between(-1.0, 1.0), height + gap + h / 2.0]);
        b.shape.push(shape(geometry));
        (height, radius) = (height + gap + h, d.size);
        d.add(b);
    }
}

/// Balls without friction, at any speed.
pub(super) fn balls(d: &mut Draft) {
    let speed = d.speed(1000.0);
    d.scene.material[0].friction = Some(0.0.into());
    d.add_ground(&ANY, speed);
    let mut height = 0.0;
    for i in 0..d.random.count(1, 4) {
        let radius = d.size * d.random.between(0.2, 0.6);
        let v = d.random.direction() * speed;
        let mut b = body(format!("b{i}"));
        b.mass = Some(d.mass(1e6));
        height += radius + if i == 0 { d.fall(v.z.abs()) } else { 0.01 * d.size };
        b.position = Some([d.size * d.random.between(-0.2, 0.2), d.size * d.random.between(-0.2, 0.2), height]);
        b.velocity = Some([v.x, v.y, -v.z.abs()]);
        b.shape.push(shape(Geometry::Sphere { radius }));
        height += radius;
        d.add(b);
    }
}

/// Bodies that meet far from everything, with the same inertia about every axis, so that flight is exact: only contact can change
/// the momenta.
pub(super) fn space(d: &mut Draft) {
    d.scene.gravity = [0.0; 3];
    let speed = d.speed(100.0);
    let n = d.random.count(2, 5);
    let mut at = 0.0;
    for i in 0..n {
        let geometry = if d.random.chance(0.4) {
            Geometry::Sphere { radius: d.size * d.random.between(0.3, 0.6) }
        } else {
            any(&mut d.random, d.size)
        };
        let r = reach(&geometry);
        let (mass, spin) = (d.mass(1e4), d.random.vector() * (d.random.decades(0.1, 30.0)));
        at += r + if i == 0 { 0.0 } else { speed * d.end * d.random.between(0.0, 0.1) };
        let mut b = body(format!("b{i}"));
        b.mass = Some(mass);
        b.inertia = Some(vec![0.4 * mass * r * r / 4.0; 3]);
        b.position = Some([at, 0.2 * r * d.random.unit(), 0.2 * r * d.random.unit()]);
        b.orientation = Some(quaternion(d.random.rotation()));
        let along = speed * (0.5 - i as f64 / n as f64);
        b.velocity = Some([along, 0.2 * speed * d.random.between(-1.0, 1.0), 0.0]);
        b.angular_velocity = Some(array(spin));
        b.shape.push(shape(geometry));
        at += r;
        d.add(b);
    }
}

/// Bodies that start within each other and within the ground.
pub(super) fn overlap(d: &mut Draft) {
    d.add_ground(&ANY, 0.0);
    let deep = d.random.decades(1e-3, 0.2);
    let mut height = 0.0;
    for i in 0..d.random.count(1, 4) {
        let geometry = any(&mut d.random, d.size);
        let r = reach(&geometry);
        let mut b = body(format!("b{i}"));
        b.mass = Some(d.mass(1e3));
        height -= deep * r;
        b.position = Some([0.1 * r * d.random.unit(), 0.1 * r * d.random.unit(), height + r]);
        b.orientation = d.random.chance(0.5).then(|| quaternion(d.random.rotation()));
        b.shape.push(shape(geometry));
        height += 2.0 * r;
        d.add(b);
    }
}

/// Balls in a row that touch: on pendulums, or free and without gravity. The first one strikes.
pub(super) fn row(d: &mut Draft) {
    let friction = if d.random.chance(0.7) { 0.0 } else { 0.2 };
    d.scene.material[0].friction = Some(friction.into());
    let hangs = d.random.chance(0.5);
    let (radius, n) = (d.size / 4.0, d.random.count(3, 7));
    let equal = d.random.chance(0.5);
    let first = d.mass(100.0);
    let angle = d.random.between(0.1, 0.5);
    let speed = d.speed(30.0);
    if !hangs {
        d.scene.gravity = [0.0; 3];
    }
    for i in 0..n {
        let mut b = body(format!("b{i}"));
        b.mass = Some(if equal { first } else { d.mass(100.0) });
        b.shape.push(shape(Geometry::Sphere { radius }));
        let x = 2.0 * radius * i as f64;
        if hangs {
            let length = 2.0 * d.size;
            // Its own speed at the lowest point brings the first ball there within the time of the scene.
            let rate = angle / (0.3 * d.end);
            d.scene.joint.push(Joint {
                name: format!("j{i}"),
                kind: JointKind::Revolute,
                parent: "ground".into(),
                child: b.name.clone(),
                parent_frame: Some(super::linked::frame([x, 0.0, length])),
                child_frame: Some(super::linked::frame([0.0, 0.0, length])),
                axis: Some([0.0, 1.0, 0.0]),
                q: Some(vec![if i == 0 { angle } else { 0.0 }]),
                v: Some(vec![if i == 0 { -rate } else { 0.0 }]),
                ..Joint::default()
            });
        } else {
            let apart = if i == 0 { 0.2 * speed * d.end } else { 0.0 };
            b.position = Some([x - apart, 0.0, 0.0]);
            b.velocity = Some([if i == 0 { speed } else { 0.0 }, 0.0, 0.0]);
        }
        d.add(b);
    }
}
