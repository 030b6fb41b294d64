//! A controller in the loop: a rod balanced on a cart.
//!
//! ```text
//!        \ θ           cart: slides along x, driven by the controller's force
//!         \            rod:  hinged on the cart, free, starts 0.4 rad from upright
//!       ┌──o──┐
//!    ───┴─────┴───→ x
//! ```
//!
//! What it shows: building a mechanism in Rust, stepping it, looking at it between steps, and setting the force of a joint.
//! The controller is a sampled one. It looks at the mechanism a hundred times a second, and its force is held in between.
//!
//! Run it with `cargo run --release -p signorini --example controller`. It prints the motion and asserts its own result.

use signorini::model::{JointId, Model};
use signorini::scene::{Body, GROUND, Joint, JointKind, Scene};
use signorini::step::{Observation, Simulation, StepReport};
use std::error::Error;

const GRAVITY: f64 = 9.81;
const CART: f64 = 1.0;
const ROD: f64 = 0.2;
/// From the hinge to the rod's centre of mass.
const ARM: f64 = 0.5;
/// Of the rod, about its centre of mass and a line across.
const ACROSS: f64 = ROD * (2.0 * ARM) * (2.0 * ARM) / 12.0;

/// Time between two looks of the controller.
const SAMPLE: f64 = 0.01;
const SAMPLES: u32 = 1000;

fn scene() -> Scene {
    let cart = Body { name: "cart".into(), mass: Some(CART), inertia: Some(vec![0.01; 3]), ..Body::default() };
    let rod = Body {
        name: "rod".into(),
        mass: Some(ROD),
        com: Some([0.0, 0.0, ARM]),
        inertia: Some(vec![ACROSS, ACROSS, 1e-5]),
        ..Body::default()
    };
    let rail = Joint {
        name: "rail".into(),
        kind: JointKind::Prismatic,
        parent: GROUND.into(),
        child: "cart".into(),
        axis: Some([1.0, 0.0, 0.0]),
        ..Joint::default()
    };
    let hinge = Joint {
        name: "hinge".into(),
        kind: JointKind::Revolute,
        parent: "cart".into(),
        child: "rod".into(),
        axis: Some([0.0, 1.0, 0.0]), // a positive angle leans the rod towards +x
        q: Some(vec![0.4]),
        ..Joint::default()
    };
    let gravity = [0.0, 0.0, -GRAVITY];
    let mut scene = Scene { gravity, body: vec![cart, rod], joint: vec![rail, hinge], ..Scene::default() };
    scene.time.end = f64::from(SAMPLES) * SAMPLE;
    scene
}

/// The force on the cart that brings cart and rod to rest at x = 0.
///
/// Near upright, with a = M + m, b = m l, c = I + m l² and Δ = a c − b²,
///
/// ```text
/// a ẍ + b θ̈ = u,   b ẍ + c θ̈ = b g θ.
/// ```
///
/// The rod's centre of oscillation y = x + (c/b) θ obeys ÿ = g θ, whatever the force. So u acts on the fourth derivative of y
/// alone, Δ y⁗ = g (a b g θ − b u), and is chosen such that all four poles of y lie at −p.
fn force(x: f64, theta: f64, x_rate: f64, theta_rate: f64) -> f64 {
    const P: f64 = 3.0;
    let (a, b, c) = (CART + ROD, ROD * ARM, ACROSS + ROD * ARM * ARM);
    let delta = a * c - b * b;
    let (y, y1) = (x + c / b * theta, x_rate + c / b * theta_rate);
    let (y2, y3) = (GRAVITY * theta, GRAVITY * theta_rate);
    let y4 = -(P.powi(4) * y + 4.0 * P.powi(3) * y1 + 6.0 * P.powi(2) * y2 + 4.0 * P * y3);
    a * GRAVITY * theta - delta * y4 / (GRAVITY * b)
}

fn find(model: &Model, name: &str) -> Result<JointId, String> {
    let place = model.joints().iter().position(|joint| joint.name == name);
    place.map(|i| JointId(i as u32)).ok_or_else(|| format!("no joint `{name}`"))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut simulation = Simulation::from_scene(&scene())?;
    let model = simulation.system().model.clone();
    let (rail, hinge) = (find(&model, "rail")?, find(&model, "hinge")?);
    let (slide, turn) = (&model.joints()[rail.index()], &model.joints()[hinge.index()]);

    let mut seen = Observation::default();
    let mut report = StepReport::default();
    simulation.observe(false, &mut seen)?;
    let initial = seen.kinetic + seen.potential;
    println!("{:>6} {:>12} {:>12} {:>10}", "t", "x", "θ", "force");
    for sample in 0..SAMPLES {
        simulation.observe(false, &mut seen)?;
        let (q, v) = (&seen.joint_q, &seen.joint_v);
        let u = force(q[slide.q.start], q[turn.q.start], v[slide.v.start], v[turn.v.start]);
        simulation.set_joint_force(rail, &[u])?;
        if sample % 50 == 0 {
            println!("{:6.2} {:12.6} {:12.6} {u:10.4}", seen.time, q[slide.q.start], q[turn.q.start]);
        }
        // A step ends on the sample at the latest; the adaptive method may need several.
        let until = f64::from(sample + 1) * SAMPLE;
        while simulation.state().time < until {
            report = simulation.advance(until)?;
        }
    }

    simulation.observe(false, &mut seen)?;
    // Poles at −3: after 10 s what is left is e⁻³⁰ times a cubic in t, far below 1e-6.
    let rest = seen.joint_q.iter().chain(&seen.joint_v).fold(0.0, |m: f64, x| m.max(x.abs()));
    assert!(rest < 1e-6, "not at rest: {rest:e}");
    // What the controller put in is what the mechanism has gained. Sampling keeps the force smooth within a step.
    let gained = seen.kinetic + seen.potential - initial;
    let drift = (gained - report.work).abs();
    assert!(drift < 1e-8, "the energy audit does not close: {drift:e}");
    println!("at rest to {rest:.1e}, work of the controller {:.6}, energy audit open by {drift:.1e}", report.work);
    Ok(())
}
