//! Laws of restitution: energy, momentum and agreement on random impacts in mechanisms; the energy that Newton's law gains with friction,
//! against formulas; rest after the bounces; rows of balls; stops of joints.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::*;
use signorini::scene::*;
use signorini::spatial::Vec3;
use signorini::step::{Observation, Options, Simulation, StepReport, build};

const LAWS: [Restitution; 3] = [Restitution::Newton, Restitution::Poisson, Restitution::Energetic];

/// A step so short that forces move nothing by more than rounding: what is left of it is the impact.
const INSTANT: f64 = 1.0 / (1u64 << 52) as f64;

fn read(text: &str) -> Scene {
    toml::from_str(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn start(scene: &Scene, law: Restitution, step: f64) -> Simulation {
    let built = build(scene).unwrap_or_else(|e| panic!("{e}\n{}", toml::to_string(scene).unwrap()));
    let (restitution, policy) = (law, Policy::Accept);
    let options = Options { restitution, policy, step: Some(step), ..Options::from_scene(scene) };
    Simulation::new(built.model, built.plan, options, built.state).unwrap()
}

fn observe(simulation: &mut Simulation) -> Observation {
    let mut seen = Observation::default();
    simulation.observe(false, &mut seen).unwrap();
    seen
}

/// A random mechanism without loads whose bodies carry balls that touch a floor, up to a number of them, and some of whose joints are at a limit.
struct Impact {
    scene: Scene,
    n_balls: usize,
    n_limits: usize,
    is_floating: bool,
}

fn random_impact(rng: &mut Rng, friction: f64, most_balls: usize, limits: bool) -> Impact {
    let n = 1 + rng.below(6);
    let extras = Extras { fittings: false, motions: false };
    let mut scene = random_tree(rng, n, 0.3, &KINDS, extras);
    scene.gravity = [0.0; 3];
    let restitution = rng.unit();
    let (friction, restitution) = (Some(friction.into()), Some(restitution));
    scene.material.push(Material { name: "m".into(), friction, restitution, ..Default::default() });
    let shape = |geometry: Geometry, position: [f64; 3]| Shape {
        geometry,
        position,
        orientation: None,
        density: None,
        material: Some("m".into()),
        surface_velocity: None,
    };
    let centres: Vec<[f64; 3]> = (0..n).map(|_| rng.vector(0.3)).collect();
    let poses = initial_poses(&scene);
    let heights: Vec<f64> =
        poses.iter().zip(&centres).map(|(pose, c)| (pose.rotation * Vec3::from(*c) + pose.translation).z).collect();
    let floor = heights.iter().fold(f64::INFINITY, |m, z| m.min(*z)) - rng.range(0.05, 0.4);
    // Radii reach down to the floor.
    let mut n_balls = 0;
    for (i, z) in heights.iter().enumerate() {
        if n_balls < most_balls && (i == 0 || rng.chance(0.7)) {
            scene.body[i].shape.push(shape(Geometry::Sphere { radius: z - floor }, centres[i]));
            n_balls += 1;
        }
    }
    let plane = shape(Geometry::HalfSpace, [0.0, 0.0, floor]);
    scene.body.push(Body { name: GROUND.into(), shape: vec![plane], ..Default::default() });
    let bodies = vec!["b*".into(), "b*".into()];
    scene.contact.push(ContactRule { bodies, enabled: Some(false), ..Default::default() });
    // Shapes of the first body touch the ground also where a joint ties it there.
    let bodies = vec!["b*".into(), GROUND.into()];
    scene.contact.push(ContactRule { bodies, enabled: Some(true), ..Default::default() });
    let mut n_limits = 0;
    for joint in &mut scene.joint {
        let straight = matches!(joint.kind, JointKind::Revolute | JointKind::Prismatic | JointKind::Universal);
        if limits && straight && rng.chance(0.3) {
            joint.lower = Some(PerCoordinate::Each(joint.q.clone().unwrap()));
            joint.restitution = Some(rng.unit());
            n_limits += 1;
        }
    }
    let is_floating = !scene.joint.iter().any(|j| j.parent == GROUND || j.child == GROUND);
    Impact { scene, n_balls, n_limits, is_floating }
}

/// Kinetic energies before and after an instant, and its report.
fn strike(scene: &Scene, law: Restitution) -> (f64, StepReport, Simulation) {
    let mut simulation = start(scene, law, INSTANT);
    let before = observe(&mut simulation).kinetic;
    let report = simulation.advance(1.0).unwrap_or_else(|e| panic!("{e} {law:?}\n{}", toml::to_string(scene).unwrap()));
    (before, report, simulation)
}

/// Rounding of energies that are sums over the speeds of up to seven bodies, with Delassus matrices of condition up to 1e3 between them.
const ROUNDING: f64 = 1e-12;

#[test]
fn random_impacts_in_mechanisms() {
    let (mut pushed, mut several, mut limits, mut floating, mut unsolved) = (0, 0, 0, 0, [0; 3]);
    let (mut rises, mut most, mut jammed, mut mixed) = ([0; 3], [0.0_f64; 3], 0, [0; 3]);
    for seed in 0..1000 {
        let mut rng = Rng(seed);
        let friction = rng.unit();
        let impact = random_impact(&mut rng, friction, 6, true);
        limits += usize::from(impact.n_limits > 0);
        for (k, law) in LAWS.into_iter().enumerate() {
            let mut simulation = start(&impact.scene, law, INSTANT);
            let before = observe(&mut simulation).kinetic;
            // A mechanism that is welded together has nothing to lose.
            if before < 1e-6 {
                continue;
            }
            let momentum = simulation.momentum().unwrap().force;
            let report = simulation.advance(1.0).unwrap();
            if report.is_unsolved {
                unsolved[k] += 1;
                continue;
            }
            let after = observe(&mut simulation).kinetic;
            let rise = (after - before) / before;
            most[k] = most[k].max(rise);
            rises[k] += usize::from(rise > ROUNDING);
            jammed += report.no_rebound_count;
            let told = format!("seed {seed} {law:?} {rise:e} {report:?}");
            // What a report says was gained is what was, or more where strikes follow from strikes in the same instant and some of them lose. Large
            // impulses that cancel each other lose digits, as the floor of the residual shows.
            let tolerance = 1e-10_f64.max(1e3 * report.residual.floor);
            assert!(report.impact_energy_gain / before >= rise.max(0.0) - tolerance, "{told}");
            mixed[k] += usize::from(report.impact_energy_gain / before > rise.max(0.0) + tolerance);
            assert!((report.dissipated / before + rise).abs() <= tolerance, "{told}");
            if law == Restitution::Energetic {
                assert!(rise <= ROUNDING && report.impact_energy_gain <= ROUNDING * before, "{told}");
            }
            let contacts = simulation.contacts().to_vec();
            let n = contacts.iter().filter(|c| c.impulse[0] > 0.0).count();
            // The tolerance of the solver, 1e-12, is one of the problem as a whole: a contact that hardly pushes may be off by as much as one that does,
            // and by more where it is stiffer, here up to a hundred times.
            let largest = contacts.iter().fold(0.0, |m: f64, c| m.max(c.impulse[0]));
            for c in &contacts {
                assert!(c.impulse[0] >= 0.0 && c.velocity[0] >= -1e-10 * before.sqrt(), "{told} {c:?}");
                let tangential = c.impulse[1].hypot(c.impulse[2]);
                assert!(tangential <= friction * c.impulse[0] + 1e-10 * largest, "{told} {c:?}");
            }
            if law == Restitution::Energetic {
                pushed += usize::from(n > 0 || simulation.joint_constraint_forces().iter().any(|p| p.force != 0.0));
                several += usize::from(n > 1);
            }
            if impact.is_floating {
                let mut impulse = Vec3::zeros();
                for c in &contacts {
                    let (n, t) = (Vec3::from(c.normal), Vec3::from(c.tangent));
                    impulse += n * c.impulse[0] + t * c.impulse[1] + n.cross(&t) * c.impulse[2];
                }
                let error = (simulation.momentum().unwrap().force - momentum - impulse).norm();
                // Speeds of some units, masses of some units.
                assert!(error <= 1e-12 * (momentum.norm() + impulse.norm() + 1.0), "{told} {error:e}");
                floating += usize::from(law == Restitution::Energetic && n > 0);
            }
        }
    }
    println!(
        "of 1000 impacts {pushed} push, {several} at several contacts, {floating} of them afloat; {limits} have limits"
    );
    println!(
        "unsolved {unsolved:?}, {jammed} jammed; energy rises in {rises:?}, by up to {most:?} of what there was (newton, poisson, energetic)"
    );
    assert!(pushed > 600 && several > 100 && floating > 100 && limits > 100);
    assert!(mixed[0] <= 10 && mixed[1..] == [0, 0], "{mixed:?}");
    // Newton's law is known to gain energy where friction reverses or couples; the energetic law never does.
    assert!(rises[0] > 0 && rises[2] == 0);
    // Newton's law with friction has no solution where mechanisms jam: it asks for a rebound that friction takes away
    // (`a_jam_can_be_stopped_but_not_be_parted` in contact_solvers.rs). Such strikes end without rebound, and are counted.
    assert!(unsolved.iter().all(|n| *n <= 3) && jammed > 0, "{unsolved:?} {jammed}");
}

/// At one contact without friction the three laws are one: p = −(1 + e) u/G.
#[test]
fn laws_agree_at_one_contact_without_friction() {
    let mut pushed = 0;
    for seed in 0..200 {
        let mut rng = Rng(7000 + seed);
        let impact = random_impact(&mut rng, 0.0, 1, false);
        assert_eq!(impact.n_balls, 1);
        let mut found = Vec::new();
        for law in LAWS {
            let (before, report, simulation) = strike(&impact.scene, law);
            assert!(!report.is_unsolved && report.kinetic <= before * (1.0 + ROUNDING), "{seed} {report:?}");
            pushed +=
                usize::from(law == Restitution::Newton && simulation.contacts().iter().any(|c| c.impulse[0] > 0.0));
            found.push(simulation.state().v.clone());
        }
        for other in &found[1..] {
            let error: Vec<f64> = other.iter().zip(&found[0]).map(|(a, b)| a - b).collect();
            assert!(max_abs(&error) <= 1e-11 * max_abs(&found[0]).max(1.0), "{seed} {error:?}");
        }
    }
    assert!(pushed > 60, "{pushed}");
}

/// One planar contact under Newton's law, solved by hand: stick if friction can, else slip whose direction is that of the velocity at the end.
/// Matrix entries nn, tt, nt; velocities along n and t. Returns impulses and velocities after.
fn newton_by_hand([nn, tt, nt]: [f64; 3], u: [f64; 2], e: f64, mu: f64) -> ([f64; 2], [f64; 2]) {
    let after = |p: [f64; 2]| [u[0] + nn * p[0] + nt * p[1], u[1] + nt * p[0] + tt * p[1]];
    let det = nn * tt - nt * nt;
    let want = [-(1.0 + e) * u[0], -u[1]];
    let p = [(tt * want[0] - nt * want[1]) / det, (nn * want[1] - nt * want[0]) / det];
    if p[1].abs() <= mu * p[0] {
        return (p, after(p));
    }
    for way in [1.0, -1.0] {
        let normal = want[0] / (nn - way * mu * nt);
        let p = [normal, -way * mu * normal];
        if normal > 0.0 && way * after(p)[1] > 0.0 {
            return (p, after(p));
        }
    }
    panic!("no solution");
}

/// A slender rod of length 2 and mass 1, its lower end on the floor at an angle of 45°, strikes at 1 downwards and `slip` along the floor:
/// where friction turns the slip around, it does work on the way, and Newton's law asks for the whole rebound all the same.
#[test]
fn newtons_law_gains_energy_at_a_rod() {
    let (angle, inertia) = (std::f64::consts::FRAC_PI_4, 1.0 / 3.0);
    // From the centre of mass to the end that touches.
    let (x, z) = (-angle.cos(), -angle.sin());
    // The velocity of the end is v + ω (z, −x) for a turn about +y: x along t, z along n.
    let matrix = [1.0 + x * x / inertia, 1.0 + z * z / inertia, -x * z / inertia];
    let mut gains = 0;
    for (e, mu, slip) in [(1.0, 0.8, 0.1), (0.9, 0.8, 0.2), (0.5, 0.3, 0.05), (0.5, 0.8, 2.0), (1.0, 0.2, -1.0)] {
        let slip: f64 = slip;
        let mut scene = read(&format!(
            r#"
            time = {{ end = 1.0, step = 1e-3 }}
            [[material]]
            name = "m"
            friction = {mu}
            restitution = {e}
            [[body]]
            name = "ground"
            shape = [{{ kind = "half-space", material = "m" }}]
            [[body]]
            name = "rod"
            mass = 1
            inertia = [{inertia}, {inertia}, {inertia}]
            position = [0, 0, {}]
            velocity = [{slip}, 0, -1]
            [[body.point]]
            name = "end"
            position = [{x}, 0, {z}]
            material = "m"
            "#,
            -z
        ));
        let (p, u) = newton_by_hand(matrix, [-1.0, slip], e, mu);
        let gain = 0.5 * (p[0] * (u[0] - 1.0) + p[1] * (u[1] + slip));
        let (before, report, simulation) = strike(&scene, Restitution::Newton);
        println!(
            "e {e} mu {mu} slip {slip}: gain {gain:+.6} of {before:.4}, reported {:.6}",
            report.impact_energy_gain
        );
        assert!((before - 0.5 * (1.0 + slip * slip)).abs() < 1e-14);
        assert!((report.kinetic - before - gain).abs() < 1e-12, "{report:?}");
        assert!((report.impact_energy_gain - gain.max(0.0)).abs() < 1e-12, "{report:?}");
        let c = simulation.contacts()[0];
        let along = Vec3::from(c.tangent).x;
        assert!((c.impulse[0] - p[0]).abs() < 1e-12 && (c.velocity[0] - u[0]).abs() < 1e-12, "{c:?} {p:?}");
        assert!(along.abs() < 1e-12 || (c.impulse[1] * along - p[1]).abs() < 1e-12, "{c:?} {p:?}");
        gains += usize::from(gain > 1e-3);
        let (_, report, _) = strike(&scene, Restitution::Energetic);
        assert!(report.impact_energy_gain == 0.0 && report.kinetic <= before * (1.0 + ROUNDING), "{report:?}");
        // Without friction there is no gain.
        scene.material[0].friction = None;
        let (_, report, _) = strike(&scene, Restitution::Newton);
        assert!(report.impact_energy_gain <= ROUNDING, "{report:?}");
    }
    assert!(gains >= 2, "{gains}");
}

/// The double pendulum of Kane and Levinson: two rods hang from a pivot, the lower one's end strikes a rough floor.
#[test]
fn newtons_law_gains_energy_at_a_double_pendulum() {
    let (q1, q2) = (20.0_f64.to_radians(), 30.0_f64.to_radians());
    // Angles from the vertical, rods of length 1 and mass 1, rates of both angles.
    let m = [4.0 / 3.0, 0.5 * (q1 - q2).cos(), 1.0 / 3.0];
    let det = m[0] * m[2] - m[1] * m[1];
    // End of the lower rod: x = sin q1 + sin q2, z = −cos q1 − cos q2.
    let (n, t) = ([q1.sin(), q2.sin()], [q1.cos(), q2.cos()]);
    let through =
        |a: [f64; 2], b: [f64; 2]| (a[0] * (m[2] * b[0] - m[1] * b[1]) + a[1] * (m[0] * b[1] - m[1] * b[0])) / det;
    let matrix = [through(n, n), through(t, t), through(n, t)];
    let mut gains = 0;
    for (e, mu, w1, w2) in
        [(0.5, 0.5, -0.1, -0.2), (0.7, 0.5, -0.1, -0.2), (0.7, 0.5, 0.3, -0.6), (1.0, 0.9, 0.5, -0.9)]
    {
        let u = [n[0] * w1 + n[1] * w2, t[0] * w1 + t[1] * w2];
        assert!(u[0] < 0.0);
        let (p, after) = newton_by_hand(matrix, u, e, mu);
        let gain = 0.5 * (p[0] * (u[0] + after[0]) + p[1] * (u[1] + after[1]));
        let rod = "mass = 1\ncom = [0, 0, -0.5]\ninertia = [0.08333333333333333, 0.08333333333333333, 1e-3]";
        // A turn about −y by q brings (0, 0, −1) to (sin q, 0, −cos q).
        let scene = read(&format!(
            r#"
            time = {{ end = 1.0, step = 1e-3 }}
            material = [{{ name = "m", friction = {mu}, restitution = {e} }}]
            [[body]]
            name = "ground"
            shape = [{{ kind = "half-space", position = [0, 0, {}], material = "m" }}]
            [[body]]
            name = "upper"
            {rod}
            [[body]]
            name = "lower"
            {rod}
            point = [{{ name = "end", position = [0, 0, -1], material = "m" }}]
            [[joint]]
            name = "pivot"
            kind = "revolute"
            parent = "ground"
            child = "upper"
            axis = [0, -1, 0]
            q = [{q1}]
            v = [{w1}]
            [[joint]]
            name = "elbow"
            kind = "revolute"
            parent = "upper"
            child = "lower"
            parent_frame = {{ position = [0, 0, -1] }}
            axis = [0, -1, 0]
            q = [{}]
            v = [{}]
            "#,
            -q1.cos() - q2.cos(),
            q2 - q1,
            w2 - w1
        ));
        let (before, report, _) = strike(&scene, Restitution::Newton);
        let kinetic = 0.5 * (m[0] * w1 * w1 + 2.0 * m[1] * w1 * w2 + m[2] * w2 * w2);
        println!(
            "e {e} mu {mu} rates {w1} {w2}: gain {gain:+.6} of {kinetic:.6}, reported {:.6}",
            report.impact_energy_gain
        );
        assert!((before - kinetic).abs() < 1e-13, "{before} {kinetic}");
        assert!((report.kinetic - before - gain).abs() < 1e-12, "{report:?}");
        assert!((report.impact_energy_gain - gain.max(0.0)).abs() < 1e-12, "{report:?}");
        gains += usize::from(gain > 1e-4);
        let (_, report, _) = strike(&scene, Restitution::Energetic);
        assert!(report.impact_energy_gain == 0.0 && report.kinetic <= before * (1.0 + ROUNDING), "{report:?}");
    }
    assert!(gains >= 1, "{gains}");
}

const G: f64 = 9.81;

/// Bounces accumulate at t₀ (1 + e)/(1 − e), t₀ the time of the first fall. From a few steps after that on nothing moves.
#[test]
fn a_ball_comes_to_rest() {
    for integrator in [Integrator::StewartTrinkle, Integrator::Moreau] {
        for (law, e, step) in [(LAWS[0], 0.5, 1e-3), (LAWS[1], 0.7, 1e-3), (LAWS[2], 0.7, 1e-3), (LAWS[0], 0.7, 2.5e-4)]
        {
            let mut scene = read(&format!(
                r#"
                gravity = [0, 0, -{G}]
                time = {{ end = 10.0, step = 1e-3 }}
                material = [{{ name = "m", restitution = {e}, friction = 0.3 }}]
                [[body]]
                name = "ground"
                shape = [{{ kind = "half-space", material = "m" }}]
                [[body]]
                name = "ball"
                position = [0, 0, 0.6]
                shape = [{{ kind = "sphere", radius = 0.1, density = 1000, material = "m" }}]
                "#
            ));
            scene.time.integrator = integrator;
            let mut simulation = start(&scene, law, step);
            let fall = (2.0 * 0.5 / G).sqrt();
            let rest = fall * (1.0 + e) / (1.0 - e);
            let mut last_moving = 0.0;
            while simulation.state().time < rest + 0.5 {
                let report = simulation.advance(10.0).unwrap();
                let v = max_abs(&simulation.state().v);
                if v > 1e-13 {
                    last_moving = report.time;
                }
            }
            let z = observe(&mut simulation).bodies[0].position[2];
            println!(
                "{integrator:?} {law:?} e {e} h {step:e}: rest at {last_moving:.4}, {rest:.4} in the limit; z − r = {:e}",
                z - 0.1
            );
            // Each bounce that the step resolves is off by at most a step, and by g h in speed, of which e is left for the next: flights are off
            // by up to 2 e h/(1 − e). The last ones, shorter than some steps, are left out.
            let resolved = (2.0 * fall / step).ln() / -e.ln();
            let each = 1.0 + 2.0 * e / (1.0 - e);
            assert!((last_moving - rest).abs() <= step * (resolved + 1.0) * each, "{last_moving} {rest}");
            assert!((z - 0.1).abs() < 1e-13 * 0.1, "{integrator:?} {z}");
        }
    }
}

fn row_of_balls(n: usize, gap: f64, restitution: f64) -> Scene {
    let mut text =
        format!("time = {{ end = 1, step = 1e-2 }}\nmaterial = [{{ name = \"m\", restitution = {restitution} }}]\n");
    for k in 0..n {
        let x = k as f64 * (1.0 + gap);
        let v = f64::from(u8::from(k == 0));
        text += &format!(
            "[[body]]\nname = \"b{k}\"\nmass = 1\nposition = [{x}, 0, 0]\nvelocity = [{v}, 0, 0]\n\
             shape = [{{ kind = \"sphere\", radius = 0.5, material = \"m\" }}]\n"
        );
    }
    read(&text)
}

fn speeds(simulation: &mut Simulation) -> Vec<f64> {
    observe(simulation).bodies.iter().map(|b| b.velocity[0]).collect()
}

/// With gaps, however small, blows pass from ball to ball, and each pair shares its momentum as two balls do.
#[test]
fn balls_with_gaps_strike_one_after_the_other() {
    for law in LAWS {
        // With e < 1 balls catch up with those ahead after some hundred gaps.
        for (gap, e, n_steps) in [(1e-3, 1.0, 10), (1e-6, 1.0, 10), (1e-9, 1.0, 10), (1e-3, 0.8, 1)] {
            let mut simulation = start(&row_of_balls(5, gap, e), law, 1e-2);
            for _ in 0..n_steps {
                assert!(!simulation.advance(1.0).unwrap().is_unsolved);
            }
            // A ball at rest leaves with (1 + e)/2 of the speed of the one that strikes it, which keeps (1 − e)/2.
            let (pass, keep): (f64, f64) = (0.5 * (1.0 + e), 0.5 * (1.0 - e));
            let wanted: Vec<f64> = (0..5).map(|k| pass.powi(k) * if k < 4 { keep } else { 1.0 }).collect();
            let found = speeds(&mut simulation);
            let error: Vec<f64> = found.iter().zip(&wanted).map(|(a, b)| a - b).collect();
            assert!(max_abs(&error) < 1e-12, "{law:?} gap {gap} e {e}: {found:?} {wanted:?}");
        }
    }
}

/// Balls that touch are struck at once. Newton's law parts those that approach, Poisson's gives to each contact what compression had:
/// −1/3, 2/3, 2/3 for three balls and e = 1, by both, and no energy is lost. Nature's answer, 0, 0, 1, is another: see the book.
#[test]
fn touching_balls_are_struck_at_once() {
    for law in LAWS {
        let mut simulation = start(&row_of_balls(3, 0.0, 1.0), law, 1e-2);
        let report = simulation.advance(1.0).unwrap();
        let found = speeds(&mut simulation);
        assert!(!report.is_unsolved);
        let error = [found[0] + 1.0 / 3.0, found[1] - 2.0 / 3.0, found[2] - 2.0 / 3.0];
        assert!(max_abs(&error) < 1e-11, "{law:?} {found:?}");
    }
}

/// A rod on a pivot that swings into its stop.
fn stopped_pendulum(e: f64, gravity: f64, rate: f64) -> Scene {
    read(&format!(
        r#"
        gravity = [0, 0, -{gravity}]
        time = {{ end = 10.0, step = 1e-3 }}
        [[body]]
        name = "rod"
        mass = 2
        com = [0, 0, -0.5]
        inertia = [0.2, 0.2, 0.01]
        [[joint]]
        name = "pivot"
        kind = "revolute"
        parent = "ground"
        child = "rod"
        axis = [0, 1, 0]
        q = [0.5]
        v = [{rate}]
        lower = 0.0
        restitution = {e}
        "#
    ))
}

#[test]
fn a_pendulum_leaves_its_stop_with_e_times_its_speed() {
    for law in LAWS {
        for e in [0.0, 0.3, 1.0] {
            // Without gravity to rounding, and at the angle of the time of the strike.
            let mut simulation = start(&stopped_pendulum(e, 0.0, -1.0), law, 1e-3);
            while simulation.state().time < 0.7 {
                assert!(!simulation.advance(0.7).unwrap().is_unsolved);
            }
            let seen = observe(&mut simulation);
            assert!((seen.joint_v[0] - e).abs() < 1e-13, "{law:?} {e} {:?}", seen.joint_v);
            let wanted = e * 0.2;
            assert!((seen.joint_q[0] - wanted).abs() < 1e-12, "{law:?} {e} {:?}", seen.joint_q);
            // With gravity it swings up to where e² of the energy takes it: m g d (1 − cos q) grows with the square of the speed.
            let mut errors = Vec::new();
            for step in [2e-3, 1e-3, 5e-4] {
                let mut simulation = start(&stopped_pendulum(e, G, 0.0), law, step);
                let (mut highest, mut has_struck) = (0.0_f64, false);
                while simulation.state().time < 1.0 {
                    simulation.advance(1.0).unwrap();
                    has_struck |= simulation.state().v[0] > 0.0;
                    if has_struck {
                        highest = highest.max(simulation.state().q[0]);
                    }
                }
                let wanted = (1.0 - e * e * (1.0 - 0.5_f64.cos())).acos();
                errors.push((highest - wanted).abs() / step);
            }
            println!("{law:?} e {e}: height of return, error over step {errors:?}");
            // The speed at the stop, about 2, times the step, once down and once up, and g h/2 as much for the speed.
            assert!(max_abs(&errors) < 4.0, "{errors:?}");
        }
    }
}

/// A plank falls almost flat: its ends strike at different times of one step. The first strike turns the other end down, faster than it was; each strikes at its
/// own time, and neither ends below the floor by more than turning bends its path, ρ (hω)² + h² ω w.
#[test]
fn ends_of_a_plank_strike_one_after_the_other() {
    let (h, speed) = (1e-3, 2.0);
    for law in LAWS {
        for (restitution, late) in [(0.3, 0.2), (0.5, 0.6), (0.8, 0.3), (0.8, 0.6), (0.8, 0.75), (1.0, 0.5)] {
            // One end after a tenth of the step, the other `late` of a step later.
            let tilt: f64 = late * h * speed;
            let height = 0.01 + 0.5 * tilt + 0.1 * h * speed;
            let scene = read(&format!(
                r#"
                time = {{ end = 1.0, step = {h} }}
                material = [{{ name = "m", friction = 0.0, restitution = {restitution} }}]
                [[body]]
                name = "ground"
                shape = [{{ kind = "half-space", material = "m" }}]
                [[body]]
                name = "plank"
                position = [0, 0, {height}]
                orientation = [{}, 0, {}, 0]
                velocity = [0, 0, -{speed}]
                shape = [{{ kind = "box", size = [1, 0.2, 0.02], density = 500, material = "m" }}]
                "#,
                (0.5 * tilt).cos(),
                (0.5 * tilt).sin()
            ));
            let mut simulation = start(&scene, law, h);
            let before = observe(&mut simulation);
            let mut struck = 0;
            let mut deepest = 0.0_f64;
            let mut bound = 0.0_f64;
            for k in 0..3 {
                let report = simulation.advance(1.0).unwrap();
                assert!(!report.is_unsolved);
                if k == 0 {
                    struck = simulation.contacts().iter().filter(|c| c.impulse[0] > 0.0).count();
                }
                deepest = deepest.max(report.penetration);
                let after = observe(&mut simulation).bodies[0];
                let omega = Vec3::from(after.angular_velocity).norm();
                let w = Vec3::from(after.velocity).norm() + 0.51 * omega;
                bound = bound.max(0.51 * (h * omega).powi(2) + h * h * omega * w);
                assert!(
                    report.kinetic <= before.kinetic * (1.0 + 1e-12),
                    "{law:?} {restitution} {late}: {} J from {}",
                    report.kinetic,
                    before.kinetic
                );
            }
            assert_eq!(struck, 4, "{law:?} {restitution} {late}");
            assert!(deepest <= bound, "{law:?} {restitution} {late}: {deepest:e}, bound {bound:e}");
        }
    }
}
