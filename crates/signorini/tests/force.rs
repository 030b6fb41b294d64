//! Force elements: what `Stored` forces do is what the potential loses, for every kind and for a user's own; dissipation is measured, not
//! believed; a force that is not a number is named.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::*;
use proptest::prelude::*;
use signorini::dynamics::force::{Flow, Load, LoadContext, LoadView};
use signorini::model::{BodyId, JointId};
use signorini::scene::*;
use signorini::spatial::{Vec3, Wrench};
use signorini::step::{Observation, Simulation};

/// Largest difference between the power of `Stored` forces and the loss of the potential, over the largest power, along a few steps of the
/// motion. Gravity must be off. Central differences over two steps are wrong by h²/6 times the third derivative.
fn find_misreported_power(simulation: &mut Simulation, h: f64) -> f64 {
    let (mut potentials, mut powers) = (Vec::new(), Vec::new());
    let mut seen = Observation::default();
    for k in 0..12 {
        simulation.observe(false, &mut seen).unwrap();
        potentials.push(seen.potential);
        powers.push(simulation.power().unwrap().stored);
        simulation.advance(h * f64::from(k + 1)).unwrap();
    }
    let largest = |x: &[f64]| x.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    // A difference of energies is known to a few roundings of them.
    let rounding = 8.0 * f64::EPSILON * largest(&potentials) / h;
    let off = (1..11).map(|k| ((potentials[k + 1] - potentials[k - 1]) / (2.0 * h) + powers[k]).abs() - rounding);
    let worst = off.fold(0.0, f64::max);
    if worst == 0.0 { 0.0 } else { worst / largest(&powers) }
}

/// Steps of 1e-5 in motions with rates of some tens: h² times rates squared is below 1e-7.
const H: f64 = 1e-5;
const STORED: f64 = 1e-6;

fn fixed(scene: &mut Scene) {
    scene.gravity = [0.0; 3];
    scene.time.integrator = Integrator::Rk4;
    scene.time.step = Some(H);
    scene.time.end = 1.0;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn stored_power_is_what_the_potential_loses(seed: u64, n in 2usize..6, kind in 0usize..9) {
        let extras = Extras { fittings: true, motions: false };
        let mut rng = Rng(seed);
        let mut scene = random_tree(&mut rng, n, 0.3, &KINDS, extras);
        if n > 3 {
            let last = format!("b{}", n - 1);
            scene.joint.clear();
            scene = random_tree(&mut rng, n, 0.2, &[JointKind::Spherical, JointKind::Universal], extras);
            close_loop(&mut rng, &mut scene, "loop", KINDS[kind], (&last, "b0"), extras);
        }
        fixed(&mut scene);
        let off = find_misreported_power(&mut Simulation::from_scene(&scene).unwrap(), H);
        prop_assert!(off < STORED, "{off:e}");
    }
}

/// The tip of the second link, in its frame.
const TIP: Vec3 = Vec3::new(0.0, 0.0, -0.2);

/// A spring with a cubic law from a body's tip to the world's origin, and drag; all of it is a user's.
struct Hold {
    body: BodyId,
    drag: f64,
    flow: Flow,
}

impl Load for Hold {
    fn name(&self) -> &str {
        "hold"
    }

    fn n_scratch(&self) -> usize {
        1
    }

    fn apply(&self, context: &mut LoadContext<'_>) {
        let at = context.pose(self.body).point(&TIP);
        context.scratch()[0] = 4.0 * at.norm_squared();
        let stiffness = context.scratch()[0];
        context.add(Flow::Stored, self.body, &at, &Wrench::new(Vec3::zeros(), at * -stiffness));
        let velocity = context.twist(self.body, &at).linear;
        context.add(self.flow, self.body, &at, &Wrench::new(Vec3::zeros(), velocity * -self.drag));
        let speed = context.joint_v(JointId(0))[0];
        context.add_joint_force(Flow::Dissipated, JointId(0), 0, -0.3 * speed);
    }

    fn potential(&self, view: &LoadView<'_>) -> f64 {
        view.pose(self.body).point(&TIP).norm_squared().powi(2)
    }
}

fn held(drag: f64) -> Simulation {
    let mut scene = chain(2);
    scene.gravity = [0.0; 3];
    scene.joint[0].v = Some(vec![2.0]);
    scene.time.integrator = Integrator::Rk4;
    scene.time.step = Some(1e-4);
    scene.time.end = 1.0;
    let mut simulation = Simulation::from_scene(&scene).unwrap();
    simulation.add_load(Box::new(Hold { body: BodyId(1), drag, flow: Flow::Dissipated }));
    simulation
}

#[test]
fn a_load_of_the_user_stores_and_dissipates() {
    let off = find_misreported_power(&mut held(0.7), 1e-4);
    // Rates of about 5: h² 25/6.
    assert!(off < 1e-6, "{off:e}");
    let mut simulation = held(0.7);
    let mut seen = Observation::default();
    simulation.observe(false, &mut seen).unwrap();
    let start = seen.kinetic + seen.potential;
    let mut last = simulation.advance(1.0).unwrap();
    while simulation.state().time < 1.0 {
        last = simulation.advance(1.0).unwrap();
    }
    assert_eq!(last.work, 0.0);
    assert!(last.dissipated > 0.1 * start, "{} of {start}", last.dissipated);
    // A method of order 4 at rates of about 5: (5e-4)⁴ per unit of time, and rounding.
    let drift = (last.kinetic + last.potential + last.dissipated - start).abs() / start;
    assert!(drift < 1e-11, "{drift:e}");
}

/// What is called dissipation and feeds energy in counts as work: dissipation never falls.
#[test]
fn dissipation_that_feeds_is_work() {
    let mut simulation = held(-3.0);
    let mut last = simulation.advance(1.0).unwrap();
    while simulation.state().time < 0.2 {
        let before = last.dissipated;
        last = simulation.advance(0.2).unwrap();
        assert!(last.dissipated >= before);
    }
    assert!(last.work > 0.0 && simulation.power().unwrap().work > 0.0);
}

struct Broken;

impl Load for Broken {
    fn name(&self) -> &str {
        "thruster"
    }

    fn apply(&self, context: &mut LoadContext<'_>) {
        if context.time() > 0.05 {
            context.add_force(BodyId(0), &Vec3::zeros(), &Vec3::new(f64::NAN, 0.0, 0.0));
        }
    }
}

#[test]
fn a_force_that_is_no_number_is_named() {
    for integrator in [Integrator::Rk4, Integrator::Adaptive, Integrator::Euler] {
        let mut scene = chain(2);
        scene.time.integrator = integrator;
        scene.time.step = Some(1e-3);
        scene.time.end = 1.0;
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        simulation.add_load(Box::new(Broken));
        let error = loop {
            match simulation.advance(1.0) {
                Ok(_) => assert!(simulation.state().time < 0.06),
                Err(error) => break error.to_string(),
            }
        };
        assert!(error.contains("load `thruster` is not finite"), "{integrator:?}: {error}");
    }
}

fn two_masses(length: f64, damping: f64, v: f64) -> Scene {
    let text = format!(
        "[time]\nend = 1\n[[body]]\nname = \"m\"\nmass = 1\ninertia = [0.1, 0.1, 0.1]\n[[joint]]\nname = \"x\"\nkind = \"prismatic\"\n\
         parent = \"ground\"\nchild = \"m\"\nv = [{v}]\n[[force]]\nname = \"strut\"\nkind = \"spring\"\n\
         a = {{ body = \"ground\" }}\nb = {{ body = \"m\" }}\nstiffness = 25\nlength = {length}\ndamping = {damping}\n"
    );
    read::read_str(&text, "strut", ".").unwrap()
}

/// Ends that meet: a damper acts along the way on which they part; at rest there is nothing to damp.
#[test]
fn a_spring_whose_ends_meet_has_its_limit() {
    let mut moving = Simulation::from_scene(&two_masses(0.0, 2.0, 1.0)).unwrap();
    assert_eq!(moving.power().unwrap().dissipated, 2.0);
    while moving.state().time < 1.0 {
        moving.advance(1.0).unwrap();
    }
    // x = e⁻ᵗ sin(ωt)/ω with ω² = 24.
    let w = 24.0_f64.sqrt();
    let exact = (-1.0_f64).exp() * w.sin() / w;
    assert!((moving.state().q[0] - exact).abs() < 1e-8, "{} {exact}", moving.state().q[0]);
    let mut still = Simulation::from_scene(&two_masses(0.0, 2.0, 0.0)).unwrap();
    still.advance(1.0).unwrap();
    assert_eq!(still.state().q[0], 0.0);
}

/// One that rests at another length has no direction there, and is named before the run begins.
#[test]
fn a_collapsed_spring_is_named() {
    let error = Simulation::from_scene(&two_masses(0.3, 0.0, 0.0)).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("force `strut`") && error.contains("ends coincide"), "{error}");
}
