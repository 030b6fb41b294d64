//! Random parts of scenes. Names are given by the scene they end up in.

use proptest::option;
use proptest::prelude::*;
use signorini::scene::*;

/// Finite, of any size and sign; zero and −0 among them.
pub fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO,
        -10.0..10.0,
        (-100..100i32).prop_map(f64::from)
    ]
}

pub fn positive() -> impl Strategy<Value = f64> {
    1e-3..1e3
}

pub fn vector() -> impl Strategy<Value = [f64; 3]> {
    prop::array::uniform3(number())
}

pub fn text() -> impl Strategy<Value = String> {
    prop_oneof![".{0,12}", Just("quotes \" ' \\ and \n lines".to_owned())]
}

fn orientation() -> impl Strategy<Value = Option<[f64; 4]>> {
    option::of(prop::array::uniform4(0.1..2.0))
}

pub fn frame() -> impl Strategy<Value = Frame> {
    (vector(), orientation()).prop_map(|(position, orientation)| Frame { name: String::new(), position, orientation })
}

pub fn shape(geometry: Geometry) -> Shape {
    Shape { geometry, position: [0.0; 3], orientation: None, density: None, material: None, surface_velocity: None }
}

fn solid() -> impl Strategy<Value = Shape> {
    let points = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.1, 1.0]];
    let geometry = prop_oneof![
        positive().prop_map(|radius| Geometry::Sphere { radius }),
        prop::array::uniform3(positive()).prop_map(|size| Geometry::Box { size }),
        (positive(), positive()).prop_map(|(radius, length)| Geometry::Capsule { radius, length }),
        (positive(), positive()).prop_map(|(radius, length)| Geometry::Cylinder { radius, length }),
        (positive(), positive()).prop_map(|(radius, length)| Geometry::Cone { radius, length }),
        Just(Geometry::ConvexHull { points, file: None, scale: None, hull: None }),
    ];
    let belt = option::of(prop::array::uniform3(-9.0..9.0));
    (geometry, prop::array::uniform3(-9.0..9.0), orientation(), belt).prop_map(
        |(geometry, position, orientation, surface_velocity)| Shape {
            position,
            orientation,
            surface_velocity,
            ..shape(geometry)
        },
    )
}

/// The three ways to give mass.
pub fn body() -> impl Strategy<Value = Body> {
    let solids = || prop::collection::vec(solid(), 1..3);
    let mass = prop_oneof![
        (positive(), prop::array::uniform3(1.0..1.9), option::of(vector()), prop::bool::ANY).prop_map(
            |(mass, [a, b, c], com, off)| {
                let inertia = if off { vec![a, b, c, 0.01, -0.02, 0.03] } else { vec![a, b, c] };
                Body { mass: Some(mass), inertia: Some(inertia), com, ..Body::default() }
            }
        ),
        (positive(), solids()).prop_map(|(mass, mut shape)| {
            shape[0].material = Some("air".into());
            Body { mass: Some(mass), shape, ..Body::default() }
        }),
        (solids(), positive()).prop_map(|(mut shape, density)| {
            shape.iter_mut().for_each(|shape| shape.density = Some(density));
            shape[0].density = None;
            shape[0].material = Some("steel".into());
            Body { shape, ..Body::default() }
        }),
    ];
    let frames = prop::collection::vec(frame(), 0..3);
    let points = prop::collection::vec(vector(), 0..2);
    let touch = (points, option::of(Just("group".to_owned())));
    let start = (option::of(vector()), orientation(), option::of(vector()), option::of(vector()));
    let named = |(i, position)| ContactPoint { name: format!("p{i}"), position, material: Some("steel".into()) };
    (mass, frames, start, touch).prop_map(move |(body, frame, start, (points, group))| {
        let (position, orientation, velocity, angular_velocity) = start;
        let point = points.into_iter().enumerate().map(named).collect();
        Body { frame, position, orientation, velocity, angular_velocity, point, group, ..body }
    })
}

fn per_speed(kind: JointKind) -> impl Strategy<Value = Option<PerCoordinate>> {
    let each = prop::collection::vec(0.0..10.0, kind.n_v());
    let some = prop_oneof![(0.0..10.0).prop_map(PerCoordinate::All), each.prop_map(PerCoordinate::Each)];
    option::of(some).prop_map(move |value| value.filter(|_| kind.n_v() > 0))
}

pub fn signal() -> impl Strategy<Value = Signal> {
    let n = 2..5usize;
    let interpolation = option::of(prop_oneof![Just(Interpolation::Linear), Just(Interpolation::Cubic)]);
    let table = n.prop_flat_map(|n| (prop::collection::vec(positive(), n), prop::collection::vec(number(), n)));
    prop_oneof![
        number().prop_map(Signal::Constant),
        (number(), number()).prop_map(|(start, rate)| Signal::Varying(Varying::Ramp { start, rate })),
        prop::array::uniform4(number()).prop_map(|[amplitude, angular_frequency, phase, offset]| {
            Signal::Varying(Varying::Sine { amplitude, angular_frequency, phase, offset })
        }),
        (number(), number(), number()).prop_map(|(time, before, after)| Signal::Varying(Varying::Step {
            time,
            before,
            after
        })),
        (number(), positive(), number(), number()).prop_map(|(start, duration, value, offset)| {
            Signal::Varying(Varying::Pulse { start, duration, value, offset })
        }),
        (number(), number(), number()).prop_map(|(start, rate, after)| {
            let terms = vec![Varying::Ramp { start, rate }, Varying::Step { time: start, before: 0.0, after }];
            Signal::Varying(Varying::Sum { terms })
        }),
        (table, interpolation).prop_map(|((gaps, values), interpolation)| {
            let times = gaps.iter().scan(0.0, |t, gap| {
                *t += gap;
                Some(*t)
            });
            Signal::Varying(Varying::Table { times: times.collect(), values, interpolation })
        }),
    ]
}

fn motors(kind: JointKind) -> impl Strategy<Value = Vec<Motor>> {
    let coordinate = kind.n_v().saturating_sub(1);
    let turns_by_quaternion = kind.quaternion_at().is_some();
    (signal(), signal(), number(), 0.0..9.0, 0..5usize).prop_map(move |(value, target, position, gain, n)| {
        let mut motors = vec![
            Motor::Torque { coordinate, value },
            Motor::Servo {
                coordinate,
                target: target.clone(),
                stiffness: gain,
                damping: gain / 2.0,
                limit: (gain > 4.0).then_some(gain),
                compensate_gravity: gain > 6.0,
            },
            Motor::Motion { coordinate, position: Signal::Constant(position) },
            Motor::Velocity { coordinate, target, damping: gain, limit: None, compensate_gravity: false },
        ];
        motors.truncate(if turns_by_quaternion { n.min(1) } else { n });
        if kind == JointKind::Fixed { Vec::new() } else { motors }
    })
}

/// A joint of any kind; axes, where given, are perpendicular.
pub fn joint() -> impl Strategy<Value = Joint> {
    prop::sample::select(JointKind::ALL.to_vec()).prop_flat_map(|kind| {
        let coordinates = || option::of(prop::collection::vec(0.1..2.0, kind.n_q()));
        let start = (coordinates(), option::of(prop::collection::vec(number(), kind.n_v())));
        let spring = (per_speed(kind), coordinates());
        let passive = (spring, per_speed(kind), per_speed(kind));
        let rubbing = (per_speed(kind), per_speed(kind), limits(kind), option::of(0.0..=1.0));
        let axes = (prop::bool::ANY, number());
        (Just(kind), place(), axes, start, passive, motors(kind), rubbing).prop_map(joint_of)
    })
}

type Place = (Option<FrameRef>, Option<FrameRef>, Option<[f64; 3]>);
type Passive = ((Option<PerCoordinate>, Option<Vec<f64>>), Option<PerCoordinate>, Option<PerCoordinate>);
type Start = (Option<Vec<f64>>, Option<Vec<f64>>);
type Limits = Option<(Vec<f64>, Vec<f64>)>;
type Rubbing = (Option<PerCoordinate>, Option<PerCoordinate>, Limits, Option<f64>);
type JointParts = (JointKind, Place, (bool, f64), Start, Passive, Vec<Motor>, Rubbing);

/// Limits of all coordinates that can have some, but the last one, which may follow a motion.
fn limits(kind: JointKind) -> impl Strategy<Value = Limits> {
    let n = kind.n_v();
    let n_limits = kind.quaternion_at().unwrap_or(n).min(n.saturating_sub(1));
    option::of(prop::collection::vec((-9.0..9.0, 0.0..9.0), n_limits)).prop_map(move |given| {
        let given = given.filter(|_| n > 0)?;
        let mut limits: (Vec<f64>, Vec<f64>) = given.into_iter().map(|(low, size)| (low, low + size)).unzip();
        limits.0.resize(n, f64::NEG_INFINITY);
        limits.1.resize(n, f64::INFINITY);
        Some(limits)
    })
}

fn joint_of((kind, place, (has_axes, pitch), (q, v), passive, motor, rubbing): JointParts) -> Joint {
    let (friction, friction_load, limits, restitution) = rubbing;
    // What follows a motion does not rub.
    let is_free = !motor.iter().any(|m| matches!(m, Motor::Motion { .. }));
    let (lower, upper) = limits.unzip();
    let (parent_frame, child_frame, anchor) = place;
    let ((stiffness, rest), damping, armature) = passive;
    Joint {
        kind,
        parent_frame,
        child_frame,
        anchor,
        axis: (has_axes && kind.has_axis()).then_some([0.0, 3.0, 4.0]),
        axis2: (has_axes && kind.has_axis2()).then_some([1.0, -8.0, 6.0]),
        pitch: (kind == JointKind::Screw).then_some(pitch),
        q,
        v,
        spring: stiffness.map(|stiffness| Spring { stiffness, rest }),
        damping,
        armature,
        friction: friction.filter(|_| is_free),
        friction_load: friction_load.filter(|_| is_free),
        restitution: restitution.filter(|_| lower.is_some()),
        lower: lower.map(PerCoordinate::Each),
        upper: upper.map(PerCoordinate::Each),
        motor,
        ..Joint::default()
    }
}

fn place() -> impl Strategy<Value = Place> {
    let pose =
        || (vector(), orientation()).prop_map(|(position, orientation)| FrameRef::Pose { position, orientation });
    prop_oneof![
        Just((None, None, None)),
        vector().prop_map(|anchor| (None, None, Some(anchor))),
        (pose(), option::of(pose())).prop_map(|(parent, child)| (Some(parent), child, None)),
        pose().prop_map(|parent| (Some(parent), Some(FrameRef::Name("frame0".into())), None)),
    ]
}

pub fn force() -> impl Strategy<Value = Force> {
    let name = String::new;
    let axes = || prop_oneof![Just(Axes::World), Just(Axes::Body)];
    prop_oneof![
        (vector(), vector(), prop::array::uniform3(0.0..9.0)).prop_map(move |(a, b, [stiffness, length, damping])| {
            let end = |body: &str, point| Attachment { body: body.into(), point };
            Force::Spring { name: name(), a: end("body0", a), b: end(GROUND, b), stiffness, length, damping }
        }),
        (option::of(vector()), vector(), axes(), option::of(signal())).prop_map(
            move |(point, vector, axes, signal)| Force::Force {
                name: name(),
                body: "body0".into(),
                point,
                vector,
                axes,
                signal
            }
        ),
        (vector(), axes(), option::of(signal())).prop_map(move |(vector, axes, signal)| {
            Force::Torque { name: name(), body: "body0".into(), vector, axes, signal }
        }),
    ]
}

/// What an event of any kind may be triggered by; a `delay` asks for `after`.
fn trigger() -> impl Strategy<Value = Event> {
    let joint = || Some("joint/0".to_owned());
    let end = |body: &str| Some(Attachment { body: body.into(), point: [0.5, 0.0, -0.25] });
    let conditions = prop::sample::select(vec![
        Condition { kind: Quantity::Coordinate, joint: joint(), coordinate: Some(0), ..Condition::default() },
        Condition { kind: Quantity::Speed, joint: joint(), ..Condition::default() },
        Condition { kind: Quantity::Distance, a: end("body0"), b: end(GROUND), ..Condition::default() },
        Condition { kind: Quantity::KineticEnergy, ..Condition::default() },
        Condition { kind: Quantity::Energy, ..Condition::default() },
        Condition { kind: Quantity::Force, joint: joint(), ..Condition::default() },
        Condition { kind: Quantity::Moment, joint: joint(), ..Condition::default() },
        Condition { kind: Quantity::Drive, joint: joint(), ..Condition::default() },
        Condition { kind: Quantity::Force, coupling: Some("coupling/0".into()), ..Condition::default() },
    ]);
    let time = || positive().prop_map(|time| Event { time: Some(time), ..Event::default() });
    prop_oneof![
        time(),
        (time(), positive()).prop_map(|(event, delay)| Event { delay: Some(delay), ..event }),
        (conditions, -9.0..9.0, option::of(0.1..2.0), prop::bool::ANY).prop_map(|(when, threshold, back, above)| {
            let rearm = back.map(|b| if above { threshold - b } else { threshold + b });
            let (above, below) = if above { (Some(threshold), None) } else { (None, Some(threshold)) };
            Event { when: Some(Condition { above, below, rearm, ..when }), ..Event::default() }
        }),
    ]
}

/// An event of any kind.
pub fn event() -> impl Strategy<Value = Event> {
    let of = |kind| Event { kind, ..Event::default() };
    let on_joint = |kind| Event { kind, joint: Some("joint/0".into()), ..Event::default() };
    let kinds = prop_oneof![
        prop::bool::ANY
            .prop_map(move |all| Event { coordinates: (!all).then(|| vec![0]), ..on_joint(EventKind::Lock) }),
        Just(on_joint(EventKind::Unlock)),
        Just(on_joint(EventKind::Attach)),
        Just(on_joint(EventKind::Release)),
        prop::sample::select(JointKind::ALL.to_vec()).prop_map(move |kind| Event {
            to: Some(kind),
            axis: kind.has_axis().then_some([0.0, 3.0, 4.0]),
            axis2: kind.has_axis2().then_some([1.0, -8.0, 6.0]),
            pitch: (kind == JointKind::Screw).then_some(0.25),
            ..on_joint(EventKind::Change)
        }),
        option::of(positive()).prop_map(move |length| Event {
            coupling: Some("coupling/0".into()),
            length,
            ..of(EventKind::Engage)
        }),
        Just(Event { couplings: Some(vec!["coupling/1".into()]), offset: Some(0.5), ..of(EventKind::Engage) }),
        Just(Event { couplings: Some(vec!["coupling/*".into()]), ..of(EventKind::Release) }),
        Just(Event { bodies: Some(vec![GROUND.into(), "body0".into()]), ..of(EventKind::Weld) }),
        prop::bool::ANY.prop_map(move |on| Event {
            force: Some("load:0".into()),
            on: Some(on),
            ..of(EventKind::Switch)
        }),
        (vector(), option::of(vector()), option::of(Just(Axes::Body))).prop_map(move |(vector, point, axes)| {
            Event { body: Some("body0".into()), vector: Some(vector), point, axes, ..of(EventKind::Impulse) }
        }),
    ];
    (kinds, trigger()).prop_map(|(event, trigger)| Event {
        time: trigger.time,
        delay: trigger.delay,
        when: trigger.when,
        ..event
    })
}
