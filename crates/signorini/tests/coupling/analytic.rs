//! Couplings with formulas.

use super::common::max_abs;
use super::*;

/// A disc about z with a torque, as a body and a joint.
fn disc(name: &str, inertia: f64, torque: f64) -> String {
    format!(
        r#"
        [[body]]
        name = "{name}"
        mass = 1
        inertia = [{inertia}, {inertia}, {inertia}]
        [[joint]]
        name = "{name}"
        kind = "revolute"
        parent = "ground"
        child = "{name}"
        motor = [{{ kind = "torque", value = {torque} }}]
        "#
    )
}

/// Speeds of joints by name, whatever the tree's order.
fn rates(simulation: &mut Simulation, names: &[&str]) -> Vec<f64> {
    let a = accelerations(simulation);
    let plan = &simulation.system().plan;
    let index = |name: &&str| plan.link_of_joint[simulation.joint(name).unwrap().index()].unwrap();
    names.iter().map(|name| a[index(name)]).collect()
}

#[test]
fn two_gears() {
    let (i1, i2, n1, n2, torque) = (2.0, 3.0, 17.0, 40.0, 1.5);
    let text = format!(
        r#"time = {{ end = 1 }}
        {}{}
        [[coupling]]
        name = "gears"
        kind = "coupler"
        joints = ["one", "two"]
        ratios = [{n1}, {n2}]
        "#,
        disc("one", i1, torque),
        disc("two", i2, 0.0)
    );
    let scene = scene(&text);
    let alpha = torque / (i1 + (n1 / n2) * (n1 / n2) * i2);
    let wanted = [alpha, -alpha * n1 / n2];
    for formulation in FORMULATIONS {
        let mut simulation = simulation(&scene, formulation);
        let found = rates(&mut simulation, &["one", "two"]);
        // A few roundings; the oracle solves a system of fifteen unknowns.
        assert!(difference(&found, &wanted) < 1e-13, "{formulation:?}: {found:?} {wanted:?}");
        // On the second gear nothing else acts: I₂ α₂ = N₂ λ.
        let force = observe(&mut simulation).couplings[0].force;
        assert!((force - i2 * wanted[1] / n2).abs() < 1e-14, "{formulation:?}: {force}");
    }
}

/// A rack that falls turns its pinion: a = m g / (m + I/r²).
#[test]
fn rack_and_pinion() {
    let (m, inertia, r, g) = (2.0, 0.3, 0.25, 9.81);
    let text = format!(
        r#"gravity = [0, 0, -{g}]
        time = {{ end = 1 }}
        {}
        [[body]]
        name = "rack"
        mass = {m}
        inertia = [1, 1, 1]
        [[joint]]
        name = "rail"
        kind = "prismatic"
        parent = "ground"
        child = "rack"
        [[coupling]]
        name = "teeth"
        kind = "coupler"
        joints = ["rail", "pinion"]
        ratios = [1, {r}]
        "#,
        disc("pinion", inertia, 0.0)
    );
    let scene = scene(&text);
    let a = -m * g / (m + inertia / (r * r));
    for formulation in FORMULATIONS {
        let mut simulation = simulation(&scene, formulation);
        let found = rates(&mut simulation, &["rail", "pinion"]);
        assert!(difference(&found, &[a, -a / r]) < 1e-13, "{formulation:?}: {found:?}");
        let force = observe(&mut simulation).couplings[0].force;
        assert!((force - m * (a + g)).abs() < 1e-12, "{formulation:?}: {force}");
    }
}

/// Accelerations of discs under linear relations C q = 0: α = M⁻¹(τ + Cᵀλ), C M⁻¹ Cᵀ λ = −C M⁻¹ τ.
fn constrained(inertia: &[f64], torque: &[f64], rows: &[&[f64]]) -> (Vec<f64>, Vec<f64>) {
    use nalgebra::{DMatrix, DVector};
    let n = inertia.len();
    let c = DMatrix::from_fn(rows.len(), n, |i, j| rows[i][j]);
    let inverse = DMatrix::from_diagonal(&DVector::from_fn(n, |i, _| 1.0 / inertia[i]));
    let free = &inverse * DVector::from_column_slice(torque);
    let lambda = (&c * &inverse * c.transpose()).lu().solve(&-(&c * &free)).unwrap();
    let alpha = free + inverse * c.transpose() * &lambda;
    (alpha.as_slice().to_vec(), lambda.as_slice().to_vec())
}

#[test]
fn planetary_gear() {
    let (inertia, torque, sun, ring) = ([0.4, 2.5, 1.1], [1.0, -0.3, 0.2], 24.0, 60.0);
    let names = ["sun", "ring", "carrier"];
    let discs: String = (0..3).map(|k| disc(names[k], inertia[k], torque[k])).collect();
    let text = format!(
        r#"time = {{ end = 1 }}
        {discs}
        [[coupling]]
        name = "planets"
        kind = "coupler"
        joints = ["sun", "ring", "carrier"]
        ratios = [{sun}, {ring}, {}]
        "#,
        -(sun + ring)
    );
    let scene = scene(&text);
    let (alpha, lambda) = constrained(&inertia, &torque, &[&[sun, ring, -(sun + ring)]]);
    for formulation in FORMULATIONS {
        let mut simulation = simulation(&scene, formulation);
        let found = rates(&mut simulation, &names);
        assert!(difference(&found, &alpha) < 1e-13, "{formulation:?}: {found:?} {alpha:?}");
        let force = observe(&mut simulation).couplings[0].force;
        assert!((force - lambda[0]).abs() < 1e-13 * max_abs(&torque), "{formulation:?}");
    }
}

/// A belt over three pulleys is two relations; the third follows from them, and is named.
#[test]
fn belt_over_three_pulleys() {
    let (inertia, torque, r) = ([0.4, 2.5, 1.1], [1.0, 0.0, 0.2], [0.1, 0.25, 0.16]);
    let names = ["one", "two", "three"];
    let discs: String = (0..3).map(|k| disc(names[k], inertia[k], torque[k])).collect();
    let belt = |i: usize, j: usize| {
        format!(
            "[[coupling]]\nname = \"belt{i}{j}\"\nkind = \"coupler\"\njoints = [\"{}\", \"{}\"]\nratios = [{}, {}]\n",
            names[i], names[j], r[i], -r[j]
        )
    };
    let text = format!("time = {{ end = 1 }}\n{discs}{}{}{}", belt(0, 1), belt(1, 2), belt(0, 2));
    let scene = scene(&text);
    let (alpha, _) = constrained(&inertia, &torque, &[&[r[0], -r[1], 0.0], &[0.0, r[1], -r[2]]]);
    let built = build(&scene).unwrap();
    assert_eq!(built.assembly.dof, 1);
    assert_eq!(built.assembly.redundant.len(), 1);
    assert!(built.assembly.redundant[0].0.starts_with("belt"), "{:?}", built.assembly.redundant);
    for formulation in FORMULATIONS {
        let found = rates(&mut simulation(&scene, formulation), &names);
        assert!(difference(&found, &alpha) < 1e-12, "{formulation:?}: {found:?} {alpha:?}");
    }
}

/// Relations of given motions that they do not allow are refused, by name and place.
#[test]
fn contradictions_are_refused() {
    let driven = |name: &str, rate: f64| {
        let body = disc(name, 1.0, 0.0);
        body.replace(
            r#"{ kind = "torque", value = 0 }"#,
            &format!(r#"{{ kind = "motion", position = {{ kind = "ramp", rate = {rate} }} }}"#),
        )
    };
    let text = |rate: f64| {
        format!(
            r#"time = {{ end = 1 }}
            {}{}
            [[coupling]]
            name = "gears"
            kind = "coupler"
            joints = ["one", "two"]
            ratios = [2, 1]
            "#,
            driven("one", 1.0),
            driven("two", rate)
        )
    };
    assert!(build(&scene(&text(-2.0))).is_ok());
    let error = build(&scene(&text(-2.5))).unwrap_err().to_string();
    assert!(error.contains("coupling[0]") && error.contains("contradict"), "{error}");
}

/// A body that hangs by a rod at its centre of mass is a simple pendulum: back after T = 4 √(L/g) K(sin θ₀/2), and at the lowest point
/// the rod carries m g (3 − 2 cos θ₀).
#[test]
fn a_rod_is_a_pendulum() {
    let (m, g, length, amplitude) = (1.3, 9.81_f64, 0.8_f64, 1.2_f64);
    let (mut a, mut b) = (1.0_f64, (0.5 * amplitude).cos());
    for _ in 0..10 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    // K(k) = π / (2 agm(1, √(1 − k²))).
    let period = 2.0 * std::f64::consts::PI / a * (length / g).sqrt();
    let (x, z) = (length * amplitude.sin(), -length * amplitude.cos());
    let text = format!(
        r#"gravity = [0, 0, -{g}]
        time = {{ end = 10, rtol = 1e-12 }}
        [[body]]
        name = "bob"
        mass = {m}
        inertia = [0.1, 0.2, 0.15]
        position = [{x}, 0, {z}]
        [[coupling]]
        name = "rod"
        kind = "distance"
        a = {{ body = "ground" }}
        b = {{ body = "bob" }}
        length = {length}
        "#
    );
    let scene = scene(&text);
    for formulation in [Formulation::Recursive, Formulation::Dca] {
        let mut simulation = simulation(&scene, formulation);
        run(&mut simulation, 0.25 * period);
        let low = observe(&mut simulation);
        // The step control's error over a few hundred steps of 1e-12.
        assert!(low.bodies[0].position[0].abs() < 1e-9, "{:e}", low.bodies[0].position[0]);
        let tension = m * g * (3.0 - 2.0 * amplitude.cos());
        assert!((low.couplings[0].force + tension).abs() < 1e-8, "{} {tension}", low.couplings[0].force);
        assert!(low.couplings[0].gap.abs() < 1e-14 && low.couplings[0].rate.abs() < 1e-13);
        run(&mut simulation, period);
        let back = observe(&mut simulation).bodies[0].position;
        assert!((back[0] - x).abs() + (back[2] - z).abs() < 1e-9, "{back:?}");
    }
}

/// A body on a massless link that turns about a vertical axis goes round: m v²/L inwards, its weight along the axis.
#[test]
fn a_link_turns_about_its_axis() {
    let (m, g, length, speed) = (2.0, 9.81, 0.5, 1.4);
    let text = format!(
        r#"gravity = [0, 0, -{g}]
        time = {{ end = 10, rtol = 1e-12 }}
        [[body]]
        name = "seat"
        mass = {m}
        inertia = [0.1, 0.2, 0.15]
        position = [{length}, 0, 0.3]
        velocity = [0, {speed}, 0]
        [[coupling]]
        name = "arm"
        kind = "revolute-spherical"
        a = {{ body = "ground" }}
        axis = [0, 0, 3]
        b = {{ body = "seat" }}
        "#
    );
    let scene = scene(&text);
    for formulation in [Formulation::Recursive, Formulation::Dca] {
        let mut simulation = simulation(&scene, formulation);
        let time = 1.7;
        run(&mut simulation, time);
        let seen = observe(&mut simulation);
        let angle = speed / length * time;
        let wanted = [length * angle.cos(), length * angle.sin(), 0.3];
        assert!(difference(&seen.bodies[0].position, &wanted) < 1e-10, "{:?} {wanted:?}", seen.bodies[0].position);
        let forces: Vec<f64> = seen.couplings.iter().map(|c| c.force).collect();
        assert!(difference(&forces, &[m * g, -m * speed * speed / length]) < 1e-10, "{forces:?}");
    }
}
