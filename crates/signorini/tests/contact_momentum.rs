//! Where bodies meet: pushes act at a point of each body on one line, so that what has no friction does not start to spin and what is alone keeps its
//! angular momentum, whatever the gap; what rolls over a curved surface keeps its contact; strikes without friction make no energy.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use signorini::scene::*;
use signorini::spatial::Vec3;
use signorini::step::{Mode, Observation, Options, Simulation, build};

const FORMULATIONS: [Formulation; 3] = [Formulation::Recursive, Formulation::Dca, Formulation::Dense];

fn start(text: &str, formulation: Formulation, integrator: Integrator) -> Simulation {
    let scene: Scene = toml::from_str(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let built = build(&scene).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let options = Options { formulation, integrator, ..Options::from_scene(&scene) };
    Simulation::new(built.model, built.plan, options, built.state).unwrap()
}

fn observe(simulation: &mut Simulation) -> Observation {
    let mut seen = Observation::default();
    simulation.observe(false, &mut seen).unwrap();
    seen
}

/// Grounds whose upper side is the plane z = 0.
const GROUNDS: [&str; 5] = [
    r#"kind = "half-space""#,
    r#"kind = "box", size = [20, 20, 1], position = [0, 0, -0.5]"#,
    r#"kind = "cylinder", radius = 10, length = 1, position = [0, 0, -0.5]"#,
    r#"kind = "convex-hull", points = [[9, 9, 0], [-9, 9, 0], [-9, -9, 0], [9, -9, 0], [0, 0, -5]]"#,
    r#"kind = "height-field", size = [20, 20], columns = 5, heights = [0,0,0,0,0, 0,0,0,0,0, 0,0,0,0,0, 0,0,0,0,0, 0,0,0,0,0]"#,
];

fn ball_on(ground: &str, restitution: f64, friction: f64, step: f64) -> String {
    format!(
        r#"
        time = {{ end = 1, step = {step} }}
        [[material]]
        name = "m"
        friction = {friction}
        restitution = {restitution}
        [[body]]
        name = "ground"
        shape = [{{ {ground}, material = "m" }}]
        [[body]]
        name = "a"
        mass = 1
        position = [0.1, 0.2, 0.0737]
        velocity = [10, 0, -10]
        shape = [{{ kind = "sphere", radius = 0.05, material = "m" }}]
        "#
    )
}

/// A normal force on a ball passes through its centre, however far it is from the ground when the step finds that they will meet, and however obliquely.
#[test]
fn a_ball_without_friction_does_not_start_to_spin() {
    for ground in GROUNDS {
        for (restitution, step) in [(0.0, 1e-3), (0.5, 1e-3), (1.0, 1e-3), (0.0, 1e-2), (1.0, 1e-2)] {
            for integrator in [Integrator::StewartTrinkle, Integrator::Moreau] {
                let text = ball_on(ground, restitution, 0.0, step);
                let mut simulation = start(&text, Formulation::Recursive, integrator);
                for _ in 0..12 {
                    simulation.advance(1.0).unwrap();
                }
                let body = observe(&mut simulation).bodies[0];
                let spin = Vec3::from(body.angular_velocity).norm();
                // Of 10/0.05 rad/s: rounding of directions of unit length.
                assert!(spin <= 1e-12 * 200.0, "{ground}, e = {restitution}, h = {step}, {integrator:?}: {spin}");
                let rebound = body.velocity[2];
                let error = (rebound - 10.0 * restitution).abs();
                assert!(error <= 1e-12 * 10.0, "{ground}, e = {restitution}, h = {step}, {integrator:?}: {rebound}");
            }
        }
    }
}

/// One strike at 45°: p = (1 + e) m v, friction μ p throughout, and the spin is μ p r over 2/5 m r². Any lever but the radius shows.
#[test]
fn a_strike_with_friction_has_the_lever_of_the_radius() {
    let (restitution, friction) = (0.5, 0.1);
    let wanted = friction * (1.0 + restitution) * 10.0 / (0.4 * 0.05);
    for ground in GROUNDS {
        for formulation in FORMULATIONS {
            let text = ball_on(ground, restitution, friction, 1e-3);
            let mut simulation = start(&text, formulation, Integrator::StewartTrinkle);
            for _ in 0..6 {
                simulation.advance(1.0).unwrap();
            }
            let spin = Vec3::from(observe(&mut simulation).bodies[0].angular_velocity).norm();
            // The tolerance of contact problems.
            assert!((spin - wanted).abs() <= 1e-10 * wanted, "{ground}, {formulation:?}: {spin}, wanted {wanted}");
        }
    }
}

/// Two bodies that are alone, e = 1, with and without friction: momentum and angular momentum about the world's origin are what they were.
#[test]
fn bodies_that_are_alone_keep_their_angular_momentum() {
    let shapes = [
        r#"kind = "sphere", radius = 0.05"#,
        r#"kind = "capsule", radius = 0.03, length = 0.1"#,
        r#"kind = "box", size = [0.1, 0.08, 0.06]"#,
    ];
    for (k, a) in shapes.into_iter().enumerate() {
        for b in &shapes[k..] {
            for friction in [0.0, 0.3] {
                for step in [1e-3, 5e-3] {
                    let text = format!(
                        r#"
                        time = {{ end = 1, step = {step} }}
                        [[material]]
                        name = "m"
                        friction = {friction}
                        restitution = 1.0
                        [[body]]
                        name = "a"
                        position = [0.3, -0.4, 0.2]
                        velocity = [5, 1, 0]
                        shape = [{{ {a}, density = 1000, material = "m" }}]
                        [[body]]
                        name = "b"
                        position = [0.47, -0.35, 0.24]
                        velocity = [-3, 0, -1]
                        shape = [{{ {b}, density = 500, material = "m" }}]
                        "#
                    );
                    let mut simulation = start(&text, Formulation::Recursive, Integrator::StewartTrinkle);
                    let before = simulation.momentum().unwrap();
                    let mut has_struck = false;
                    for _ in 0..(0.05 / step) as usize {
                        simulation.advance(1.0).unwrap();
                        has_struck |= simulation.contacts().iter().any(|c| c.struck > 0.0);
                    }
                    assert!(has_struck, "{text}");
                    let after = simulation.momentum().unwrap();
                    let force = (after.force - before.force).norm() / before.force.norm();
                    assert!(force <= 1e-12, "{force}\n{text}");
                    // Balls have their points where they meet. Others turn on after a strike, by h ω of an arm in a step.
                    let moment = (after.moment - before.moment).norm() / before.moment.norm();
                    println!("{a} on {b}, mu = {friction}, h = {step}: {moment:.1e}");
                    let is_exact = a.contains("sphere") && b.contains("sphere");
                    let allowed = if is_exact { 1e-12 } else { 0.02 };
                    assert!(moment <= allowed, "{moment}\n{text}");
                }
            }
        }
    }
}

/// A ball rolls, or slides, from rest at an angle off a fixed sphere. While it touches, N = m (g cos θ − v²/(R + r)).
#[test]
fn what_rolls_off_a_sphere_keeps_its_contact_until_it_leaves() {
    let (large, small, mass, gravity, from) = (0.9_f64, 0.1_f64, 1.7_f64, 9.81_f64, 0.3_f64);
    for friction in [0.0, 0.6] {
        let mut errors = Vec::new();
        for step in [1e-3, 5e-4, 2.5e-4] {
            let text = format!(
                r#"
                gravity = [0, 0, -{gravity}]
                time = {{ end = 1, step = {step} }}
                [[material]]
                name = "m"
                friction = {friction}
                [[body]]
                name = "ground"
                shape = [{{ kind = "sphere", radius = {large}, material = "m" }}]
                [[body]]
                name = "ball"
                mass = {mass}
                position = [{}, 0, {}]
                shape = [{{ kind = "sphere", radius = {small}, material = "m" }}]
                "#,
                (large + small) * from.sin(),
                (large + small) * from.cos(),
            );
            let mut simulation = start(&text, Formulation::Recursive, Integrator::StewartTrinkle);
            let (mut changes, mut is_open, mut worst) = (0, false, 0.0_f64);
            for k in 0..(0.75 / step) as usize {
                simulation.advance(1.0).unwrap();
                let contact = simulation.contacts().first().copied();
                let was_open = std::mem::replace(&mut is_open, contact.is_none_or(|c| c.mode == Mode::Open));
                changes += usize::from(was_open != is_open);
                let body = observe(&mut simulation).bodies[0];
                let (at, v) = (Vec3::from(body.position), Vec3::from(body.velocity));
                if let Some(c) = contact.filter(|_| !is_open && k > 2) {
                    let exact = mass * (gravity * at.z / at.norm() - v.norm_squared() / (large + small));
                    worst = worst.max((c.impulse[0] / step - exact).abs());
                }
            }
            println!("mu = {friction}, h = {step}: {changes} changes, N off by {worst:.2e} N");
            assert_eq!(changes, 1, "mu = {friction}, h = {step}");
            errors.push(worst);
        }
        // First order: N is off by h times what it changes by in a time, some tens of newtons per second.
        assert!(errors[0] <= 0.1 && errors[2] <= 0.35 * errors[0], "mu = {friction}: {errors:?}");
    }
}

/// Boxes that fall on boxes, e = 1 and no friction: contacts that are opening when another strikes do no work.
#[test]
fn strikes_without_friction_make_no_energy() {
    let boxed = |name: &str, mass: f64, size: [f64; 3], at: [f64; 3]| {
        format!(
            "[[body]]\nname = \"{name}\"\nmass = {mass}\nposition = {at:?}\n\
             shape = [{{ kind = \"box\", size = {size:?}, material = \"m\" }}]\n"
        )
    };
    for (restitution, step) in [(1.0, 1.59e-3), (1.0, 1e-3), (0.9, 1.59e-3), (0.5, 5e-3)] {
        let text = format!(
            r#"
            gravity = [0, 0, -9.81]
            time = {{ end = 1, step = {step} }}
            [[material]]
            name = "m"
            friction = 0
            restitution = {restitution}
            [[body]]
            name = "ground"
            shape = [{{ kind = "half-space", material = "m" }}]
            {}{}{}
            "#,
            boxed("b2", 5.0, [0.039, 0.037, 0.072], [-0.0065, -0.0056, 0.0364]),
            boxed("b3", 1.0, [0.043, 0.069, 0.09], [0.0067, -0.0063, 0.26]),
            boxed("b4", 17.0, [0.043, 0.043, 0.069], [0.00096, -0.0044, 0.34]),
        );
        let mut simulation = start(&text, Formulation::Recursive, Integrator::StewartTrinkle);
        let first = observe(&mut simulation);
        let initial = first.kinetic + first.potential;
        let mut largest = initial;
        let mut gain = 0.0_f64;
        for _ in 0..(0.4 / step) as usize {
            let report = simulation.advance(1.0).unwrap();
            largest = largest.max(report.kinetic + report.potential);
            gain = gain.max(report.impact_energy_gain);
        }
        println!("e = {restitution}, h = {step}: {initial:.4} J, at most {largest:.4} J, strikes gain {gain:.1e} J");
        // Strikes: the tolerance of their problems. The rest is the step's own, of first order in what turns.
        assert!(gain <= 1e-9 * initial, "e = {restitution}, h = {step}: {gain}");
        assert!(largest <= 1.01 * initial, "e = {restitution}, h = {step}: {initial} → {largest}");
    }
}
