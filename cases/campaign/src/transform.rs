//! The same scene in other words: bodies in another order, shapes turned onto themselves, mirrored, turned, moved, in other units.
//!
//! Each comes with the way back, from what is seen of the other scene to what should be seen of the first.

use crate::math::{array, quaternion, rotation, vector};
use crate::run::{Instant, Placed};
use nalgebra::{UnitQuaternion, Vector3};
use signorini::scene::{
    Body, FrameRef, GROUND, Geometry, Joint, JointKind, Motor, PerCoordinate, Scene, Shape, Signal, Varying,
};

/// What is done to a scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Bodies and joints in the opposite order, under other names.
    Permuted,
    /// Shapes that look the same after half a turn about their z axis are turned so.
    Relabelled,
    /// Seen in a mirror across x.
    Mirrored,
    /// Turned in space, gravity and ground with it.
    Turned,
    /// Moved in space.
    Moved,
    /// In millimetres, grams and milliseconds.
    Units,
}

/// All of them.
pub const ALL: [Change; 6] =
    [Change::Permuted, Change::Relabelled, Change::Mirrored, Change::Turned, Change::Moved, Change::Units];

impl Change {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Permuted => "permuted",
            Self::Relabelled => "relabelled",
            Self::Mirrored => "mirrored",
            Self::Turned => "turned",
            Self::Moved => "moved",
            Self::Units => "units",
        }
    }

    /// The changed scene, where the scene's pieces allow it.
    pub fn apply(self, scene: &Scene) -> Option<Scene> {
        let mut s = scene.clone();
        match self {
            Self::Permuted => permute(&mut s),
            Self::Relabelled => relabel(&mut s),
            Self::Mirrored => {
                let has_handed = s.body.iter().flat_map(|b| &b.shape).any(|s| !can_mirror(&s.geometry));
                if has_handed || s.joint.iter().any(|j| !can_mirror_joint(j)) || !s.force.is_empty() {
                    return None;
                }
                mirror(&mut s);
            }
            Self::Turned => place(&mut s, &turn(), &Vector3::zeros())?,
            Self::Moved => place(&mut s, &UnitQuaternion::identity(), &(shift() * crate::facts::size(scene)))?,
            Self::Units => rescale(&mut s)?,
        }
        Some(s)
    }

    /// What should be seen of the first scene, from what is seen of the changed one.
    pub fn back(self, scene: &Scene, seen: &Instant) -> Vec<Placed> {
        let mut bodies = seen.bodies.clone();
        let each = |bodies: &mut [Placed], f: &dyn Fn(&mut Placed)| bodies.iter_mut().for_each(f);
        match self {
            Self::Permuted => bodies.reverse(),
            Self::Relabelled => {}
            Self::Mirrored => each(&mut bodies, &|b| {
                b.at.x = -b.at.x;
                b.axes.iter_mut().for_each(|a| a.x = -a.x);
            }),
            Self::Turned => {
                let back = turn().inverse();
                each(&mut bodies, &|b| {
                    b.at = back * b.at;
                    b.axes = b.axes.map(|a| back * a);
                });
            }
            Self::Moved => {
                let by = shift() * crate::facts::size(scene);
                each(&mut bodies, &|b| b.at -= by);
            }
            Self::Units => each(&mut bodies, &|b| b.at /= UNITS.length),
        }
        bodies
    }
}

fn turn() -> UnitQuaternion<f64> {
    UnitQuaternion::from_scaled_axis(Vector3::new(0.3, 0.7, -0.4))
}

fn shift() -> Vector3<f64> {
    Vector3::new(0.7, -1.3, 0.4)
}

fn permute(s: &mut Scene) {
    s.body.reverse();
    s.joint.reverse();
    let n = s.body.len();
    let fresh = |name: &str, i: usize| if name == GROUND { name.to_owned() } else { format!("x{}-{name}", n - i) };
    let names: Vec<(String, String)> =
        s.body.iter().enumerate().map(|(i, b)| (b.name.clone(), fresh(&b.name, i))).collect();
    let rename = |name: &mut String| {
        if let Some((_, new)) = names.iter().find(|(old, _)| old == name) {
            name.clone_from(new);
        }
    };
    s.body.iter_mut().for_each(|b| rename(&mut b.name));
    for j in &mut s.joint {
        rename(&mut j.parent);
        rename(&mut j.child);
    }
    for rule in &mut s.contact {
        rule.bodies.iter_mut().for_each(rename);
    }
}

fn relabel(s: &mut Scene) {
    let half = UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(0.0, 0.0, 0.0, 1.0));
    for shape in s.body.iter_mut().flat_map(|b| &mut b.shape) {
        let is_symmetric = matches!(
            shape.geometry,
            Geometry::Box { .. } | Geometry::Capsule { .. } | Geometry::Cylinder { .. } | Geometry::Cone { .. }
        );
        if is_symmetric {
            shape.orientation = Some(quaternion(rotation(shape.orientation) * half));
        }
    }
}

fn can_mirror(geometry: &Geometry) -> bool {
    match geometry {
        Geometry::Mesh { file, .. } => file.ends_with("cube.obj") || file.ends_with("plate.obj"),
        Geometry::ConvexHull { file, .. } => file.is_none(),
        _ => true,
    }
}

fn can_mirror_joint(joint: &Joint) -> bool {
    let kinds =
        [JointKind::Fixed, JointKind::Revolute, JointKind::Prismatic, JointKind::Spherical, JointKind::Universal];
    kinds.contains(&joint.kind) && joint.anchor.is_none()
}

fn mirror(s: &mut Scene) {
    let turn = |q: &mut Option<[f64; 4]>| q.iter_mut().for_each(|q| (q[2], q[3]) = (-q[2], -q[3]));
    s.gravity[0] *= -1.0;
    for b in &mut s.body {
        for v in [&mut b.com, &mut b.position, &mut b.velocity].into_iter().flatten() {
            v[0] *= -1.0;
        }
        if let Some(w) = &mut b.angular_velocity {
            (w[1], w[2]) = (-w[1], -w[2]);
        }
        for k in [3, 4] {
            b.inertia.iter_mut().filter_map(|i| i.get_mut(k)).for_each(|x| *x *= -1.0);
        }
        turn(&mut b.orientation);
        for shape in &mut b.shape {
            shape.position[0] *= -1.0;
            turn(&mut shape.orientation);
            match &mut shape.geometry {
                Geometry::ConvexHull { points, .. } => points.iter_mut().for_each(|p| p[0] *= -1.0),
                Geometry::HeightField { columns, heights, .. } => {
                    heights.chunks_mut(*columns).for_each(<[f64]>::reverse)
                }
                _ => {}
            }
        }
    }
    for j in &mut s.joint {
        for frame in [&mut j.parent_frame, &mut j.child_frame] {
            if let Some(FrameRef::Pose { position, orientation }) = frame {
                position[0] *= -1.0;
                turn(orientation);
            }
        }
        // A turn about a is seen as one about −Sa, a way along a as one along Sa.
        if j.kind == JointKind::Prismatic {
            j.axis.iter_mut().for_each(|a| a[0] *= -1.0);
        } else {
            if j.kind == JointKind::Universal {
                j.axis.get_or_insert([1.0, 0.0, 0.0]);
                j.axis2.get_or_insert([0.0, 1.0, 0.0]);
            } else if j.kind == JointKind::Revolute {
                j.axis.get_or_insert([0.0, 0.0, 1.0]);
            }
            for a in [&mut j.axis, &mut j.axis2].into_iter().flatten() {
                (a[1], a[2]) = (-a[1], -a[2]);
            }
        }
        if j.kind == JointKind::Spherical {
            j.q.iter_mut().for_each(|q| (q[2], q[3]) = (-q[2], -q[3]));
            j.v.iter_mut().for_each(|v| (v[1], v[2]) = (-v[1], -v[2]));
        }
    }
}

/// Everything that is fixed in space is turned about the origin, then shifted.
fn place(s: &mut Scene, turn: &UnitQuaternion<f64>, by: &Vector3<f64>) -> Option<()> {
    if s.joint.iter().any(|j| j.anchor.is_some()) || !s.force.is_empty() {
        return None;
    }
    s.gravity = array(turn * vector(s.gravity));
    let move_shape = |shape: &mut Shape| {
        shape.position = array(turn * vector(shape.position) + by);
        shape.orientation = Some(quaternion(turn * rotation(shape.orientation)));
    };
    // A body whose place follows from joints keeps none of its own.
    let is_placed = |b: &Body| {
        b.position.is_some() || b.orientation.is_some() || b.velocity.is_some() || b.angular_velocity.is_some()
    };
    let held: Vec<String> = s.joint.iter().map(|j| j.child.clone()).collect();
    for b in &mut s.body {
        if b.name == GROUND {
            b.shape.iter_mut().for_each(move_shape);
        } else if is_placed(b) || !held.contains(&b.name) {
            b.position = Some(array(turn * vector(b.position.unwrap_or_default()) + by));
            b.orientation = Some(quaternion(turn * rotation(b.orientation)));
            for v in [&mut b.velocity, &mut b.angular_velocity].into_iter().flatten() {
                *v = array(turn * vector(*v));
            }
        }
    }
    for j in &mut s.joint {
        if j.child == GROUND {
            return None;
        }
        if j.parent == GROUND {
            let (position, orientation) = match j.parent_frame.take() {
                None => ([0.0; 3], None),
                Some(FrameRef::Pose { position, orientation }) => (position, orientation),
                Some(FrameRef::Name(_)) => return None,
            };
            let position = array(turn * vector(position) + by);
            j.parent_frame =
                Some(FrameRef::Pose { position, orientation: Some(quaternion(turn * rotation(orientation))) });
        }
    }
    Some(())
}

/// New numbers per old ones.
struct Units {
    mass: f64,
    length: f64,
    time: f64,
}

const UNITS: Units = Units { mass: 1e3, length: 1e3, time: 1e3 };

impl Units {
    fn force(&self) -> f64 {
        self.mass * self.length / (self.time * self.time)
    }

    /// Of a coordinate: a length or an angle.
    fn coordinate(&self, kind: JointKind) -> f64 {
        if kind == JointKind::Prismatic { self.length } else { 1.0 }
    }
}

fn rescale(s: &mut Scene) -> Option<()> {
    let u = &UNITS;
    let kinds =
        [JointKind::Fixed, JointKind::Revolute, JointKind::Prismatic, JointKind::Spherical, JointKind::Universal];
    if s.joint.iter().any(|j| !kinds.contains(&j.kind)) || !s.force.is_empty() || !s.event.is_empty() {
        return None;
    }
    let (m, l, t) = (u.mass, u.length, u.time);
    let times = |x: &mut [f64], f: f64| x.iter_mut().for_each(|x| *x *= f);
    times(&mut s.gravity, l / (t * t));
    s.time.end *= t;
    s.time.step.iter_mut().for_each(|h| *h *= t);
    for b in &mut s.body {
        b.mass.iter_mut().for_each(|x| *x *= m);
        b.com.iter_mut().for_each(|x| times(x, l));
        b.inertia.iter_mut().for_each(|x| times(x, m * l * l));
        b.position.iter_mut().for_each(|x| times(x, l));
        b.velocity.iter_mut().for_each(|x| times(x, l / t));
        b.angular_velocity.iter_mut().for_each(|x| times(x, 1.0 / t));
        for shape in &mut b.shape {
            rescale_shape(shape, u);
        }
    }
    for material in &mut s.material {
        material.density.iter_mut().for_each(|d| *d *= m / (l * l * l));
    }
    s.joint.iter_mut().try_for_each(|j| rescale_joint(j, u))
}

fn rescale_shape(shape: &mut Shape, u: &Units) {
    let l = u.length;
    let times = |x: &mut [f64]| x.iter_mut().for_each(|x| *x *= l);
    times(&mut shape.position);
    shape.density.iter_mut().for_each(|d| *d *= u.mass / (l * l * l));
    shape.surface_velocity.iter_mut().for_each(|v| v.iter_mut().for_each(|x| *x *= l / u.time));
    match &mut shape.geometry {
        Geometry::Sphere { radius } => *radius *= l,
        Geometry::Box { size } => times(size),
        Geometry::Capsule { radius, length }
        | Geometry::Cylinder { radius, length }
        | Geometry::Cone { radius, length } => (*radius, *length) = (*radius * l, *length * l),
        Geometry::HalfSpace => {}
        Geometry::ConvexHull { points, scale, .. } => {
            points.iter_mut().for_each(|p| times(p));
            scale.iter_mut().for_each(|x| *x *= l);
        }
        Geometry::Mesh { scale, .. } => *scale.get_or_insert(1.0) *= l,
        Geometry::HeightField { size, heights, .. } => {
            times(size);
            times(heights);
        }
    }
}

fn rescale_joint(j: &mut Joint, u: &Units) -> Option<()> {
    for frame in [&mut j.parent_frame, &mut j.child_frame].into_iter().flatten() {
        match frame {
            FrameRef::Pose { position, .. } => position.iter_mut().for_each(|x| *x *= u.length),
            FrameRef::Name(_) => return None,
        }
    }
    j.anchor.iter_mut().flatten().for_each(|x| *x *= u.length);
    let unit = u.coordinate(j.kind);
    let generalised = u.force() * u.length / unit;
    let per = |x: &mut PerCoordinate, f: f64| match x {
        PerCoordinate::All(x) => *x *= f,
        PerCoordinate::Each(x) => x.iter_mut().for_each(|x| *x *= f),
    };
    if j.kind == JointKind::Prismatic {
        j.q.iter_mut().flatten().for_each(|x| *x *= unit);
    }
    j.v.iter_mut().flatten().for_each(|x| *x *= unit / u.time);
    if let Some(spring) = &mut j.spring {
        per(&mut spring.stiffness, generalised / unit);
        if j.kind == JointKind::Prismatic {
            spring.rest.iter_mut().flatten().for_each(|x| *x *= unit);
        }
    }
    for limit in [&mut j.lower, &mut j.upper].into_iter().flatten() {
        per(limit, unit);
    }
    j.friction.iter_mut().for_each(|x| per(x, generalised));
    j.damping.iter_mut().for_each(|x| per(x, generalised * u.time / unit));
    j.armature.iter_mut().for_each(|x| per(x, generalised * u.time * u.time / unit));
    for motor in &mut j.motor {
        match motor {
            Motor::Torque { value, .. } => rescale_signal(value, generalised, u.time),
            Motor::Servo { target, stiffness, damping, limit, .. } => {
                rescale_signal(target, unit, u.time);
                *stiffness *= generalised / unit;
                *damping *= generalised * u.time / unit;
                limit.iter_mut().for_each(|x| *x *= generalised);
            }
            Motor::Velocity { target, damping, limit, .. } => {
                rescale_signal(target, unit / u.time, u.time);
                *damping *= generalised * u.time / unit;
                limit.iter_mut().for_each(|x| *x *= generalised);
            }
            Motor::Motion { position, .. } => rescale_signal(position, unit, u.time),
        }
    }
    Some(())
}

fn rescale_signal(signal: &mut Signal, f: f64, t: f64) {
    match signal {
        Signal::Constant(x) => *x *= f,
        Signal::Varying(varying) => rescale_varying(varying, f, t),
    }
}

fn rescale_varying(varying: &mut Varying, f: f64, t: f64) {
    match varying {
        Varying::Ramp { start, rate } => (*start, *rate) = (*start * f, *rate * f / t),
        Varying::Sine { amplitude, angular_frequency, offset, .. } => {
            (*amplitude, *offset, *angular_frequency) = (*amplitude * f, *offset * f, *angular_frequency / t);
        }
        Varying::Step { time, before, after } => (*time, *before, *after) = (*time * t, *before * f, *after * f),
        Varying::Pulse { start, duration, value, offset } => {
            (*start, *duration, *value, *offset) = (*start * t, *duration * t, *value * f, *offset * f);
        }
        Varying::Sum { terms } => terms.iter_mut().for_each(|term| rescale_varying(term, f, t)),
        Varying::Table { times, values, .. } => {
            times.iter_mut().for_each(|x| *x *= t);
            values.iter_mut().for_each(|x| *x *= f);
        }
    }
}
