//! Random valid scenes.

use proptest::option;
use proptest::prelude::*;
use signorini::scene::*;

mod parts;
use parts::*;

/// A material with a section of friction, in directions of the ground where it has some.
fn of_section(name: &str, section: FrictionSection) -> Material {
    let friction = Friction::from(section);
    let frame = FrictionFrame { body: GROUND.into(), direction: [1.0, 0.0, 0.0] };
    let friction_frame = (!friction.is_isotropic()).then_some(frame);
    Material { name: name.into(), friction: Some(friction), friction_frame, ..Default::default() }
}

/// Four half-spaces that bound space.
fn simplex() -> Vec<[f64; 3]> {
    vec![[1.0, 1.0, 9.0], [-1.0, 1.0, -9.0], [1.0, -1.0, -9.0], [-1.0, -1.0, 9.0]]
}

/// Methods with a fixed step.
const FIXED_STEP: [Integrator; 4] =
    [Integrator::Rk4, Integrator::Euler, Integrator::StewartTrinkle, Integrator::Moreau];

/// A valid scene of a few bodies, with everything that a scene can have but files.
pub fn scene() -> impl Strategy<Value = Scene> {
    let bodies = prop::collection::vec(body(), 1..4);
    let joints = prop::collection::vec(joint(), 0..4);
    let forces = prop::collection::vec(force(), 0..3);
    let ground = option::of(prop::collection::vec(frame(), 0..3));
    let events = prop::collection::vec(event(), 0..5);
    let run = (option::of(text()), vector(), time(), solver(), output());
    (run, bodies, joints, forces, ground, events).prop_map(
        |(run, mut body, mut joint, mut force, ground, mut event)| {
            let (title, gravity, time, solver, mut output) = run;
            let n = body.len();
            for (i, body) in body.iter_mut().enumerate() {
                body.name = format!("body{i}");
                name_frames(&mut body.frame);
            }
            let n_frames: Vec<usize> = body.iter().map(|body| body.frame.len()).collect();
            for (i, joint) in joint.iter_mut().enumerate() {
                joint.name = format!("joint/{i}");
                joint.parent = if i < n { GROUND.into() } else { format!("body{}", (i + 1) % n) };
                joint.child = format!("body{}", i % n);
                if joint.parent == joint.child {
                    joint.parent = GROUND.into();
                }
                if n_frames[i % n] == 0 && matches!(joint.child_frame, Some(FrameRef::Name(_))) {
                    joint.child_frame = None;
                }
            }
            for (i, force) in force.iter_mut().enumerate() {
                let (Force::Spring { name, .. } | Force::Force { name, .. } | Force::Torque { name, .. }) = force;
                *name = format!("load:{i}");
            }
            if let Some(mut frame) = ground {
                name_frames(&mut frame);
                let plane = shape(Geometry::HalfSpace);
                let heights = vec![0.0, 0.5, -0.25, 1.0, 0.0, 0.125];
                let field = shape(Geometry::HeightField { size: [2.0, 1.5], columns: 3, heights });
                body.push(Body { name: GROUND.into(), frame, shape: vec![plane, field], ..Body::default() });
            }
            // Events speak of the first joint, which must be there and be able to move, and of the first load.
            let moves = joint.first().is_some_and(|j| j.kind != JointKind::Fixed);
            event.retain(|e| moves || (e.joint.is_none() && e.when.as_ref().is_none_or(|w| w.joint.is_none())));
            event.retain(|e| e.force.is_none() || !force.is_empty());
            for (i, event) in event.iter_mut().enumerate() {
                event.name = format!("event{i}");
                // Never two at one time.
                event.time = event.time.map(|t| t + 1e4 * i as f64);
                if i > 0 && event.delay.is_some() {
                    (event.time, event.after) = (None, Some(format!("event{}", i - 1)));
                } else {
                    event.delay = None;
                }
            }
            if joint.len() > 1 {
                let last = joint.len() - 1;
                joint[last].absent = true;
                joint[last].breaks =
                    Some(Break { force: Some(3.5), moment: Some(2.0), impulse: Some(1.5), moment_impulse: Some(0.25) });
            }
            let driven = joint.iter().any(|joint| !joint.motor.is_empty());
            output.joints = output.joints.filter(|_| !joint.is_empty());
            output.reactions.truncate(if joint.is_empty() { 0 } else { 1 });
            let material = vec![
                Material {
                    name: "steel".into(),
                    density: Some(7.8),
                    friction: Some(Friction::Ellipse([0.3, 0.1])),
                    friction_frame: Some(FrictionFrame { body: GROUND.into(), direction: [0.0, 3.0, 4.0] }),
                    restitution: Some(1.0),
                },
                Material { name: "air".into(), ..Material::default() },
                of_section("p", FrictionSection { polygon: Some(7), mu: Some(0.2), ..Default::default() }),
                of_section(
                    "d",
                    FrictionSection { directions: vec![[0.3, 0.0], [-0.2, 0.3], [-0.2, -0.3]], ..Default::default() },
                ),
                of_section(
                    "e",
                    FrictionSection { ellipsoid: Some([1.0, 0.5, 0.1]), mu: Some(0.2), ..Default::default() },
                ),
                of_section("h", FrictionSection { polyhedron: simplex(), mu: Some(0.2), ..Default::default() }),
                of_section("r", FrictionSection { rolling: Some(0.01), mu: Some(0.2), ..Default::default() }),
            ];
            let pushes = |j: &Joint| j.lower.is_some() || j.friction.is_some() || j.friction_load.is_some();
            let driven = driven || joint.iter().any(pushes);
            output.actuators = if driven { vec!["joint/*".into()] } else { Vec::new() };
            let everything = vec!["*".to_owned(), "*".to_owned()];
            let steel = vec!["steel".to_owned(), "air".to_owned()];
            let is_grouped = body.iter().any(|body| body.group.is_some());
            let groups = vec!["gr*".to_owned(), "group".to_owned()];
            let mut contact = vec![
                ContactRule { bodies: everything, enabled: Some(false), ..ContactRule::default() },
                ContactRule {
                    materials: steel,
                    friction: Some(
                        FrictionSection { mixed: Some([1.0, 1.0, 0.25]), mu: Some(0.5), ..Default::default() }.into(),
                    ),
                    restitution: Some(0.25),
                    ..ContactRule::default()
                },
            ];
            if is_grouped {
                contact.push(ContactRule { groups, restitution: Some(0.5), ..ContactRule::default() });
            }
            let coupling = couplings(&joint);
            output.couplings = vec!["coupling/*".into()];
            Scene { title, gravity, time, solver, output, material, body, joint, coupling, force, event, contact }
        },
    )
}

/// A rod that waits, a link, and a gear between the first two joints that have a coordinate of their own.
fn couplings(joints: &[Joint]) -> Vec<Coupling> {
    let end = |body: &str| Attachment { body: body.into(), point: [0.5, 0.0, -0.25] };
    let (a, b) = (end("body0"), end(GROUND));
    let rod = CouplingKind::Distance { a: a.clone(), b: b.clone(), length: Some(1.5) };
    let breaks = Some(Break { force: Some(3.5), impulse: Some(1.5), ..Break::default() });
    let axis = [0.0, 3.0, 4.0];
    let link = CouplingKind::RevoluteSpherical { a, axis, b, length: None, offset: Some(-0.5) };
    let name = |k: usize| format!("coupling/{k}");
    let mut all = vec![
        Coupling { name: name(0), kind: rod, absent: true, breaks },
        Coupling { name: name(1), kind: link, absent: false, breaks: None },
    ];
    let is_straight = |j: &&Joint| j.kind.quaternion_at().unwrap_or(j.kind.n_v()) > 0 && !j.absent;
    let usable: Vec<String> = joints.iter().filter(is_straight).map(|j| j.name.clone()).take(2).collect();
    if usable.len() == 2 {
        let kind = CouplingKind::Coupler {
            joints: usable,
            coordinates: Some(vec![0, 0]),
            ratios: vec![1.0, -2.5],
            offset: Some(0.25),
        };
        all.push(Coupling { name: name(2), kind, absent: false, breaks: None });
    }
    all
}

fn name_frames(frames: &mut [Frame]) {
    for (i, frame) in frames.iter_mut().enumerate() {
        frame.name = format!("frame{i}");
    }
}

fn solver() -> impl Strategy<Value = Solver> {
    let methods = [ContactMethod::Auto, ContactMethod::GaussSeidel, ContactMethod::Newton, ContactMethod::Admm];
    (
        prop::sample::select(vec![Formulation::Recursive, Formulation::Dca, Formulation::Dense]),
        prop::sample::select(methods.to_vec()),
        option::of(1e-14..1e-2),
        prop::sample::select(vec![Policy::Stop, Policy::Warn, Policy::Accept]),
        prop::sample::select(vec![Restitution::Newton, Restitution::Poisson, Restitution::Energetic]),
    )
        .prop_map(|(formulation, method, tolerance, policy, restitution)| Solver {
            formulation,
            method,
            tolerance,
            policy,
            restitution,
        })
}

fn time() -> impl Strategy<Value = Time> {
    prop_oneof![
        (positive(), option::of(positive()), option::of(1e-14..1e-2)).prop_map(|(end, step, rtol)| Time {
            end,
            step,
            rtol,
            integrator: Integrator::Auto
        }),
        (positive(), positive(), prop::sample::select(FIXED_STEP.to_vec())).prop_map(|(end, step, integrator)| Time {
            end,
            step: Some(step),
            rtol: None,
            integrator
        }),
    ]
}

fn output() -> impl Strategy<Value = Output> {
    let rate = prop_oneof![
        Just((None, None)),
        positive().prop_map(|interval| (Some(interval), None)),
        (1..1_000_000u64).prop_map(|every| (None, Some(every))),
    ];
    let markers = prop::collection::vec(vector(), 0..2);
    let contacts = option::of(prop::bool::ANY);
    (rate, option::of(Just(())), option::of(Just(())), prop::bool::ANY, markers, contacts).prop_map(
        |((interval, every), bodies, joints, reactions, points, contacts)| Output {
            interval,
            every,
            bodies: bodies.map(|()| vec!["body*".into(), "body0".into()]),
            joints: joints.map(|()| vec!["joint/?".into()]),
            reactions: if reactions { vec!["joint/0".into()] } else { Vec::new() },
            actuators: Vec::new(),
            couplings: Vec::new(),
            contacts,
            marker: points
                .into_iter()
                .enumerate()
                .map(|(i, point)| Marker { name: format!("tip{i}"), body: "body0".into(), point })
                .collect(),
        },
    )
}
