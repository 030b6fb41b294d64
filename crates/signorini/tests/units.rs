//! Units: rescaling by powers of two changes no bit but exponents, and metres or millimetres give one motion.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use signorini::plan::Shape as PlanShape;
use signorini::scene::read::read_str;
use signorini::scene::*;
use signorini::state::State;
use signorini::step::{Simulation, build};

/// New unit of mass, length and time, each as a factor on the numbers of the old one.
#[derive(Clone, Copy)]
struct Units {
    mass: f64,
    length: f64,
    time: f64,
}

impl Units {
    fn force(&self) -> f64 {
        self.mass * self.length / (self.time * self.time)
    }
    /// Factor on each coordinate and each speed's generalised coordinate of a kind: a length or an angle.
    fn coordinate(&self, kind: JointKind, k: usize) -> f64 {
        let is_length = match kind {
            JointKind::Prismatic => true,
            JointKind::Cylindrical => k == 1,
            JointKind::Planar => k < 2,
            JointKind::Free => k < 3,
            _ => false,
        };
        if is_length { self.length } else { 1.0 }
    }
    fn rescale(&self, scene: &Scene) -> Scene {
        let mut s = scene.clone();
        let (l, t, m) = (self.length, self.time, self.mass);
        let v3 = |x: &mut [f64; 3], f: f64| x.iter_mut().for_each(|x| *x *= f);
        v3(&mut s.gravity, l / (t * t));
        s.time.end *= t;
        s.time.step.iter_mut().for_each(|h| *h *= t);
        for b in &mut s.body {
            b.mass.iter_mut().for_each(|x| *x *= m);
            b.com.iter_mut().for_each(|x| v3(x, l));
            b.inertia.iter_mut().flatten().for_each(|x| *x *= m * l * l);
            b.position.iter_mut().for_each(|x| v3(x, l));
            b.velocity.iter_mut().for_each(|x| v3(x, l / t));
            b.angular_velocity.iter_mut().for_each(|x| v3(x, 1.0 / t));
            for shape in &mut b.shape {
                v3(&mut shape.position, l);
                shape.density.iter_mut().for_each(|d| *d *= m / (l * l * l));
                shape.surface_velocity.iter_mut().for_each(|v| v3(v, l / t));
                match &mut shape.geometry {
                    Geometry::Sphere { radius } => *radius *= l,
                    Geometry::Box { size } => v3(size, l),
                    Geometry::Capsule { radius, length }
                    | Geometry::Cylinder { radius, length }
                    | Geometry::Cone { radius, length } => (*radius, *length) = (*radius * l, *length * l),
                    Geometry::HalfSpace => {}
                    other => panic!("{other:?} is not rescaled here"),
                }
            }
        }
        for material in &mut s.material {
            material.density.iter_mut().for_each(|d| *d *= m / (l * l * l));
            if let Some(Friction::Section(section)) = &mut material.friction {
                [&mut section.ellipsoid, &mut section.mixed].into_iter().flatten().for_each(|e| e[2] *= l);
                section.rolling.iter_mut().for_each(|arm| *arm *= l);
                section.polyhedron.iter_mut().for_each(|row| row[2] /= l);
            }
        }
        for j in &mut s.joint {
            for frame in [&mut j.parent_frame, &mut j.child_frame] {
                if let Some(FrameRef::Pose { position, .. }) = frame {
                    v3(position, l);
                }
            }
            j.pitch.iter_mut().for_each(|p| *p *= l);
            let kind = j.kind;
            let unit = |k: usize| self.coordinate(kind, k);
            j.q.iter_mut().flatten().enumerate().for_each(|(k, x)| *x *= unit(k));
            j.v.iter_mut().flatten().enumerate().for_each(|(k, x)| *x *= unit(k) / t);
            let generalised = |k: usize| self.force() * l / unit(k);
            if let Some(spring) = &mut j.spring {
                per(&mut spring.stiffness, kind, &|k| generalised(k) / unit(k));
                spring.rest.iter_mut().flatten().enumerate().for_each(|(k, x)| *x *= unit(k));
            }
            for limit in [&mut j.lower, &mut j.upper] {
                limit.iter_mut().for_each(|x| per(x, kind, &unit));
            }
            j.friction.iter_mut().for_each(|x| per(x, kind, &generalised));
            j.damping.iter_mut().for_each(|d| per(d, kind, &|k| generalised(k) * t / unit(k)));
            j.armature.iter_mut().for_each(|d| per(d, kind, &|k| generalised(k) * t * t / unit(k)));
        }
        for c in &mut s.coupling {
            match &mut c.kind {
                // What the relation adds up keeps its unit: ratios of lengths give way.
                CouplingKind::Coupler { joints, coordinates, ratios, .. } => {
                    for (k, (name, ratio)) in joints.iter().zip(ratios).enumerate() {
                        let kind = scene.joint.iter().find(|j| j.name == *name).unwrap().kind;
                        *ratio /= self.coordinate(kind, coordinates.as_ref().map_or(0, |list| list[k]));
                    }
                }
                CouplingKind::Distance { a, b, .. } | CouplingKind::RevoluteSpherical { a, b, .. } => {
                    v3(&mut a.point, l);
                    v3(&mut b.point, l);
                }
            }
        }
        for f in &mut s.force {
            if let Force::Spring { a, b, stiffness, length, damping, .. } = f {
                v3(&mut a.point, l);
                v3(&mut b.point, l);
                *length *= l;
                *stiffness *= self.force() / l;
                *damping *= self.force() * t / l;
            }
        }
        s
    }
}

fn per(value: &mut PerCoordinate, kind: JointKind, factor: &dyn Fn(usize) -> f64) {
    let mut each = match value {
        PerCoordinate::All(x) => vec![*x; kind.n_v()],
        PerCoordinate::Each(x) => x.clone(),
    };
    each.iter_mut().enumerate().for_each(|(k, x)| *x *= factor(k));
    *value = PerCoordinate::Each(each);
}

fn body(name: &str, mass: f64, com: [f64; 3], inertia: [f64; 3]) -> Body {
    Body { name: name.into(), mass: Some(mass), com: Some(com), inertia: Some(inertia.to_vec()), ..Default::default() }
}

fn frame(position: [f64; 3]) -> Option<FrameRef> {
    Some(FrameRef::Pose { position, orientation: None })
}

/// A floating base, a slider, a ball joint, springs, dampers and a closed loop of five revolute joints.
fn mechanism() -> Scene {
    let mut scene = Scene { gravity: [0.3, -0.2, -9.81], ..Default::default() };
    scene.time.end = 1.0;
    let mut base = body("base", 1.3, [0.01, 0.02, -0.03], [0.03, 0.04, 0.05]);
    (base.position, base.velocity) = (Some([0.1, 0.2, 0.3]), Some([0.5, -0.1, 0.2]));
    base.angular_velocity = Some([0.3, 0.4, -0.2]);
    scene.body.push(base);
    scene.body.push(body("slider", 0.7, [0.0, 0.1, 0.0], [0.01, 0.012, 0.015]));
    scene.body.push(body("ball", 0.4, [0.0, 0.0, -0.2], [0.02, 0.021, 0.006]));
    let joint = |name: &str, kind, parent: &str, child: &str| Joint {
        name: name.into(),
        kind,
        parent: parent.into(),
        child: child.into(),
        ..Default::default()
    };
    let mut slide = joint("slide", JointKind::Cylindrical, "base", "slider");
    (slide.q, slide.v) = (Some(vec![0.4, 0.15]), Some(vec![1.0, -0.3]));
    slide.spring = Some(Spring { stiffness: PerCoordinate::Each(vec![0.7, 30.0]), rest: Some(vec![0.1, 0.05]) });
    slide.damping = Some(PerCoordinate::Each(vec![0.02, 0.5]));
    let mut swing = joint("swing", JointKind::Spherical, "slider", "ball");
    swing.parent_frame = frame([0.2, 0.0, -0.1]);
    swing.q = Some(vec![0.9, 0.1, 0.3, -0.2]);
    swing.armature = Some(PerCoordinate::All(0.003));
    scene.joint = vec![slide, swing];
    let end = |body: &str, point| Attachment { body: body.into(), point };
    let (a, b) = (end("base", [0.0, 0.3, 0.0]), end("ball", [0.0, 0.0, -0.4]));
    scene.force.push(Force::Spring { name: "rope".into(), a, b, stiffness: 20.0, length: 0.3, damping: 0.4 });
    // A parallelogram on the ground: its loop has three redundant constraints.
    for (name, l) in [("left", 0.5), ("right", 0.5), ("top", 0.8)] {
        scene.body.push(body(name, l, [l / 2.0, 0.0, 0.0], [1e-3, l * l * l / 12.0, l * l * l / 12.0]));
    }
    let mut bar = |name: &str, parent: &str, child: &str, on_parent, on_child, q: f64| {
        let mut j = joint(name, JointKind::Revolute, parent, child);
        j.axis = Some([0.0, 1.0, 0.0]);
        (j.parent_frame, j.child_frame) = (frame(on_parent), frame(on_child));
        j.q = Some(vec![q]);
        scene.joint.push(j);
    };
    bar("a", "ground", "left", [0.0; 3], [0.0; 3], -1.1);
    bar("b", "ground", "right", [0.8, 0.0, 0.0], [0.0; 3], -1.1);
    bar("c", "left", "top", [0.5, 0.0, 0.0], [0.0; 3], 1.1);
    bar("d", "right", "top", [0.5, 0.0, 0.0], [0.8, 0.0, 0.0], 1.1);
    scene
}

/// The same with a gear between a distance and an angle, a rod and a link.
fn coupled() -> Scene {
    let mut scene = mechanism();
    let end = |body: &str, point| Attachment { body: body.into(), point };
    let (joints, coordinates) = (vec!["slide".into(), "a".into()], Some(vec![1, 0]));
    let (a, b) = (end("ground", [0.3, 0.4, 1.0]), end("ball", [0.0, 0.1, -0.2]));
    let (c, d) = (end("base", [0.1, 0.2, 0.0]), end("top", [0.4, 0.0, 0.1]));
    let kinds = [
        CouplingKind::Coupler { joints, coordinates, ratios: vec![3.0, 0.7], offset: None },
        CouplingKind::Distance { a, b, length: None },
        CouplingKind::RevoluteSpherical { a: c, axis: [0.0, 0.6, 0.8], b: d, length: None, offset: None },
    ];
    for (k, kind) in kinds.into_iter().enumerate() {
        scene.coupling.push(Coupling { name: format!("c{k}"), kind, absent: false, breaks: None });
    }
    scene
}

/// By the recursion, or by clusters of a given shape.
fn run(scene: &Scene, integrator: Integrator, steps: usize, shape: Option<PlanShape>) -> State {
    let mut scene = scene.clone();
    scene.time.integrator = integrator;
    if shape.is_some() {
        scene.solver.formulation = Formulation::Dca;
    }
    let mut simulation = Simulation::from_scene(&scene).unwrap();
    shape.into_iter().for_each(|shape| simulation.set_shape(shape));
    for _ in 0..steps {
        simulation.advance(scene.time.end).unwrap();
    }
    simulation.state().clone()
}

#[test]
fn powers_of_two_give_the_same_bits() {
    same_bits_in_other_units(mechanism());
}

#[test]
fn powers_of_two_give_the_same_bits_with_couplings() {
    same_bits_in_other_units(coupled());
}

fn same_bits_in_other_units(mut scene: Scene) {
    scene.time.end = 64.0;
    let integrators = [Integrator::Adaptive, Integrator::Rk4, Integrator::Euler];
    let shapes = [None, Some(PlanShape::Balanced), Some(PlanShape::Blocked(2))];
    for (integrator, shape) in integrators.into_iter().flat_map(|i| shapes.map(|s| (i, s))) {
        scene.time.step = (integrator != Integrator::Adaptive).then_some(1e-3);
        let plain = run(&scene, integrator, 30, shape);
        for (m, l, t) in [(1, 0, 0), (0, 1, 0), (0, 0, 1), (-7, 5, 3), (11, -10, -9)] {
            let units = Units { mass: 2f64.powi(m), length: 2f64.powi(l), time: 2f64.powi(t) };
            let scaled = run(&units.rescale(&scene), integrator, 30, shape);
            assert_eq!(scaled.time, plain.time * units.time, "{integrator:?} {shape:?} {m} {l} {t}");
            // Everything but lengths and rates of lengths is an angle, a quaternion or an angular velocity.
            let same = |a: &[f64], b: &[f64], factors: &[f64]| {
                a.iter().zip(b).all(|(a, b)| factors.iter().any(|f| *a == *b * f))
            };
            assert!(same(&scaled.q, &plain.q, &[1.0, units.length]), "{integrator:?} {shape:?} {m} {l} {t}");
            assert!(same(&scaled.v, &plain.v, &[1.0 / units.time, units.length / units.time]));
        }
    }
}

/// Bodies of every convex shape that fall, tumble, strike and come to rest, on a belt too, and a jointed one with limits and dry friction.
const FALLING: &str = r#"
gravity = [0, 0, -9.81]
time = { end = 64, step = 2e-3 }
material = [{ name = "wood", density = 500, friction = 0.4, restitution = 0.3 }]

[[body]]
name = "ground"
shape = [
    { kind = "half-space", material = "wood" },
    { kind = "box", size = [2, 2, 0.1], position = [1.2, 0, 0.05], material = "wood", surface_velocity = [0.3, 0.1, 0] },
]

[[body]]
name = "cube"
position = [0.1, 0.1, 0.45]
orientation = [0.9, 0.3, 0.2, 0.1]
velocity = [0.4, 0, 0]
angular_velocity = [1, 2, -1]
shape = [{ kind = "box", size = [0.3, 0.2, 0.25], material = "wood" }]

[[body]]
name = "ball"
position = [0.12, 0.05, 0.9]
shape = [{ kind = "sphere", radius = 0.12, material = "wood" }]

[[body]]
name = "pill"
position = [1.1, 0.1, 0.6]
angular_velocity = [0, 3, 1]
shape = [{ kind = "capsule", radius = 0.1, length = 0.3, material = "wood" }]

[[body]]
name = "can"
position = [-0.6, 0, 0.5]
orientation = [0.8, 0.5, 0.1, 0]
shape = [{ kind = "cylinder", radius = 0.15, length = 0.3, material = "wood" }]

[[body]]
name = "arm"
shape = [{ kind = "box", size = [0.1, 0.1, 0.5], position = [0, 0, -0.25], material = "wood" }]

[[joint]]
name = "hinge"
kind = "revolute"
parent = "ground"
child = "arm"
axis = [0, 1, 0]
parent_frame = { position = [0, 1.5, 1] }
q = [0.9]
lower = -0.2
upper = 1
friction = 0.05
restitution = 0.4
"#;

/// Contact too: no tolerance and no margin has a unit.
#[test]
fn powers_of_two_give_the_same_bits_in_contact() {
    let plain = read_str(FALLING, "falling.toml", "").unwrap();
    let rules = [Restitution::Newton, Restitution::Energetic];
    for (integrator, restitution) in
        [Integrator::StewartTrinkle, Integrator::Moreau].into_iter().flat_map(|i| rules.map(|r| (i, r)))
    {
        let run = |scene: &Scene| {
            let mut scene = scene.clone();
            (scene.time.integrator, scene.solver.restitution) = (integrator, restitution);
            let mut simulation = Simulation::from_scene(&scene).unwrap();
            let mut pushed = 0;
            for _ in 0..500 {
                simulation.advance(scene.time.end).unwrap();
                pushed += simulation.contacts().iter().filter(|c| c.impulse[0] > 0.0).count();
            }
            assert!(pushed > 1000, "{pushed} contacts pushed");
            simulation.state().clone()
        };
        let plain_end = run(&plain);
        for (m, l, t) in [(1, 0, 0), (0, 1, 0), (0, 0, 1), (-7, 5, 3), (11, -10, -9)] {
            let units = Units { mass: 2f64.powi(m), length: 2f64.powi(l), time: 2f64.powi(t) };
            let end = run(&units.rescale(&plain));
            let same = |a: &[f64], b: &[f64], factors: &[f64]| {
                a.iter().zip(b).all(|(a, b)| factors.iter().any(|f| *a == *b * f))
            };
            let what = format!("{integrator:?} {restitution:?} {m} {l} {t}");
            assert!(same(&end.q, &plain_end.q, &[1.0, units.length]), "{what}: positions");
            assert!(same(&end.v, &plain_end.v, &[1.0 / units.time, units.length / units.time]), "{what}: velocities");
        }
    }
}

/// Moments beside forces: what compares rows of different units does it by lengths of the law.
#[test]
fn powers_of_two_give_the_same_bits_under_friction_with_moments() {
    let laws = [
        FrictionSection { ellipsoid: Some([1.0, 1.0, 0.03]), mu: Some(0.4), ..Default::default() },
        FrictionSection { mixed: Some([1.0, 1.0, 0.03]), mu: Some(0.4), ..Default::default() },
        FrictionSection { rolling: Some(0.01), mu: Some(0.4), ..Default::default() },
        FrictionSection {
            polyhedron: vec![[1.0, 1.0, 30.0], [-1.0, 1.0, -30.0], [1.0, -1.0, -30.0], [-1.0, -1.0, 30.0]],
            mu: Some(0.4),
            ..Default::default()
        },
    ];
    for law in laws {
        let mut plain = read_str(FALLING, "falling.toml", "").unwrap();
        let friction = Friction::from(law.clone());
        let frame = FrictionFrame { body: "ground".into(), direction: [1.0, 0.3, 0.0] };
        plain.material[0].friction_frame = (!friction.is_isotropic()).then_some(frame);
        plain.material[0].friction = Some(friction);
        let run = |scene: &Scene| {
            let mut simulation = Simulation::from_scene(scene).unwrap();
            let mut turned = 0;
            for _ in 0..300 {
                simulation.advance(scene.time.end).unwrap();
                turned += simulation.contacts().iter().filter(|c| c.moment != [0.0; 3]).count();
            }
            assert!(turned > 100, "{turned} moments");
            simulation.state().clone()
        };
        let plain_end = run(&plain);
        for (m, l, t) in [(0, 1, 0), (-7, 5, 3)] {
            let units = Units { mass: 2f64.powi(m), length: 2f64.powi(l), time: 2f64.powi(t) };
            let end = run(&units.rescale(&plain));
            let same = |a: &[f64], b: &[f64], factors: &[f64]| {
                a.iter().zip(b).all(|(a, b)| factors.iter().any(|f| *a == *b * f))
            };
            assert!(same(&end.q, &plain_end.q, &[1.0, units.length]), "{law:?} {m} {l} {t}: positions");
            assert!(
                same(&end.v, &plain_end.v, &[1.0 / units.time, units.length / units.time]),
                "{law:?} {m} {l} {t}: velocities"
            );
        }
    }
}

#[test]
fn metres_and_millimetres_agree() {
    let mut scene = mechanism();
    scene.time.rtol = Some(1e-12);
    let finish = |scene: &Scene| {
        let mut simulation = Simulation::from_scene(scene).unwrap();
        while simulation.state().time < scene.time.end {
            simulation.advance(scene.time.end).unwrap();
        }
        simulation.state().clone()
    };
    let si = finish(&scene);
    let units = Units { mass: 1e3, length: 1e3, time: 1e3 };
    let other = finish(&units.rescale(&scene));
    let built = build(&scene).unwrap();
    assert_eq!(built.plan.n_floating(), 1);
    for (a, b) in si.q.iter().zip(&other.q) {
        let nearest = (a - b).abs().min((a - b / units.length).abs());
        // Two runs at rtol 1e-12 over one second.
        assert!(nearest < 1e-9, "{a} {b}");
    }
}
