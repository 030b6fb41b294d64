//! Gears and rods that engage, are released and break in mid-flight.

use super::common::*;
use super::*;
use signorini::impulse::EventReport;
use signorini::model::event::Action;
use signorini::scene::*;

const INERTIA: [f64; 2] = [2.0, 0.5];
const SPEED: [f64; 2] = [3.0, -1.0];
const RATIOS: [f64; 2] = [1.0, 1.5];

/// Two discs, a gear between them that waits, and events.
fn gears(more: &str, events: &str) -> Scene {
    let disc = |k: usize| {
        let (i, v) = (INERTIA[k], SPEED[k]);
        format!(
            r#"
            [[body]]
            name = "d{k}"
            mass = 1
            inertia = [{i}, {i}, {i}]
            [[joint]]
            name = "d{k}"
            kind = "revolute"
            parent = "ground"
            child = "d{k}"
            v = [{v}]
            "#
        )
    };
    let text = format!(
        r#"time = {{ end = 2 }}
        {}{}
        [[coupling]]
        name = "gear"
        kind = "coupler"
        joints = ["d0", "d1"]
        ratios = [{}, {}]
        {more}
        {events}"#,
        disc(0),
        disc(1),
        RATIOS[0],
        RATIOS[1]
    );
    scene(&text)
}

const ENGAGE: &str = "[[event]]\nname = \"engage\"\nkind = \"engage\"\ncoupling = \"gear\"\ntime = 0.5\n";

fn reports(simulation: &mut Simulation, end: f64) -> Vec<EventReport> {
    let mut reports = Vec::new();
    while simulation.state().time < end || simulation.is_event_due() {
        simulation.advance(end).unwrap_or_else(|e| panic!("{e}"));
        reports.extend_from_slice(simulation.events());
    }
    reports
}

/// λ = −(c · ω) / (c · M⁻¹ c), ω⁺ = ω + M⁻¹ c λ, and Carnot: what is lost is the energy of the jump.
#[test]
fn a_gear_engages() {
    let scene = gears("absent = true", ENGAGE);
    let through = RATIOS[0] * RATIOS[0] / INERTIA[0] + RATIOS[1] * RATIOS[1] / INERTIA[1];
    let impulse = -(RATIOS[0] * SPEED[0] + RATIOS[1] * SPEED[1]) / through;
    let after = [0, 1].map(|k| SPEED[k] + RATIOS[k] * impulse / INERTIA[k]);
    let energy = |v: [f64; 2]| (0..2).map(|k| 0.5 * INERTIA[k] * v[k] * v[k]).sum::<f64>();
    for formulation in FORMULATIONS {
        let mut simulation = simulation(&scene, formulation);
        let before = observe(&mut simulation);
        assert!(before.couplings[0].force.is_nan() && before.couplings[0].gap.is_nan());
        let report = reports(&mut simulation, 0.5).remove(0);
        assert_eq!((report.kind.as_str(), &report.target[..]), ("engage", &["gear".to_owned()][..]));
        let found = [report.velocity_after["d0"][0], report.velocity_after["d1"][0]];
        assert!(difference(&found, &after) < 1e-14, "{formulation:?}: {found:?} {after:?}");
        assert!((report.coupling_impulses["gear"][0] - impulse).abs() < 1e-13, "{formulation:?}");
        // In the joints it is a torque, which they pass on to the ground.
        for k in 0..2 {
            let torque = report.impulses[&format!("d{k}")][2];
            assert!((torque - RATIOS[k] * impulse).abs() < 1e-13, "{formulation:?}: {torque}");
        }
        let lost = energy(SPEED) - energy(after);
        assert!((report.kinetic_energy.of_jump - lost).abs() < 1e-13 && (report.dissipated - lost).abs() < 1e-13);
        assert_eq!(report.generalised_momentum_before.len(), 2);
        // It holds what it found: nothing has moved, and nothing will.
        let q = observe(&mut simulation).joint_q.clone();
        let offset = RATIOS[0] * q[0] + RATIOS[1] * q[1];
        run(&mut simulation, 2.0);
        let seen = observe(&mut simulation);
        assert!((RATIOS[0] * seen.joint_q[0] + RATIOS[1] * seen.joint_q[1] - offset).abs() < 1e-13);
        assert!(difference(&seen.joint_v, &after) < 1e-12);
    }
}

#[test]
fn a_released_gear_changes_no_velocity() {
    let release = "[[event]]\nname = \"release\"\nkind = \"release\"\ncoupling = \"gear\"\ntime = 1\n";
    let scene = gears("absent = true", &format!("{ENGAGE}{release}"));
    let mut simulation = simulation(&scene, Formulation::Recursive);
    let all = reports(&mut simulation, 2.0);
    assert_eq!(all.len(), 2);
    assert_eq!(all[1].velocity_before, all[1].velocity_after);
    assert!(observe(&mut simulation).couplings[0].rate.is_nan());
}

/// A gear that was engaged from the start, released, and engaged again elsewhere: it holds what it finds then, not what it had at the start.
#[test]
fn a_gear_engages_again_where_it_is() {
    let at = |name: &str, kind: &str, time: f64| {
        format!("[[event]]\nname = \"{name}\"\nkind = \"{kind}\"\ncoupling = \"gear\"\ntime = {time}\n")
    };
    let mut scene = gears("", &format!("{}{}", at("out", "release", 0.5), at("in", "engage", 1.5)));
    // A torque that tells the discs apart meanwhile.
    scene.joint[0].motor.push(Motor::Torque { coordinate: 0, value: Signal::Constant(0.7) });
    for formulation in FORMULATIONS {
        let mut simulation = simulation(&scene, formulation);
        assert_eq!(reports(&mut simulation, 1.5).len(), 2);
        let held = simulation.state().topology.couplings[&0].held[0];
        assert!(held.abs() > 0.01, "{formulation:?}: {held}");
        run(&mut simulation, 2.0);
        let q = observe(&mut simulation).joint_q;
        assert!((RATIOS[0] * q[0] + RATIOS[1] * q[1] - held).abs() < 1e-13);
    }
}

/// A motor on one disc, a gear that breaks by the force that the other one needs.
#[test]
fn a_gear_breaks() {
    let text = gears("break = { force = 0.05 }", "");
    let mut scene = text;
    let position = Signal::Varying(Varying::Table {
        times: vec![0.0, 0.7, 0.8, 3.0],
        values: vec![0.0, 0.0, 4.0, 4.0],
        interpolation: Some(Interpolation::Linear),
    });
    scene.joint[0].motor.push(Motor::Torque { coordinate: 0, value: position });
    for formulation in FORMULATIONS {
        let mut simulation = simulation(&scene, formulation);
        let all = reports(&mut simulation, 2.0);
        assert_eq!(all.len(), 1, "{all:?}");
        assert_eq!((all[0].name.as_str(), all[0].kind.as_str()), ("break:gear:force", "break"));
        // λ = −τ (c₀/I₀) / (c · M⁻¹ c) reaches the threshold on the ramp.
        let through = RATIOS[0] * RATIOS[0] / INERTIA[0] + RATIOS[1] * RATIOS[1] / INERTIA[1];
        let torque = 0.05 * through * INERTIA[0] / RATIOS[0];
        let time = 0.7 + 0.1 * torque / 4.0;
        assert!((all[0].time - time).abs() < 1e-9, "{formulation:?}: {} {time}", all[0].time);
    }
}

/// An offset that does not fit would move bodies; one that fits is held to the bit.
#[test]
fn offsets_must_fit() {
    let told = |offset: f64| gears("absent = true", &format!("{ENGAGE}offset = {offset}\n"));
    let fits = RATIOS[0] * SPEED[0] * 0.5 + RATIOS[1] * SPEED[1] * 0.5;
    let mut simulation = simulation(&told(fits), Formulation::Recursive);
    run(&mut simulation, 2.0);
    assert_eq!(simulation.state().topology.couplings[&0].held, [fits]);
    let mut simulation = super::simulation(&told(fits + 0.01), Formulation::Recursive);
    let error = loop {
        if let Err(error) = simulation.advance(2.0) {
            break error.to_string();
        }
    };
    assert!(error.contains("`gear` does not fit") && error.contains("offset"), "{error}");
}

/// What uses a coordinate goes with it, and says so.
#[test]
fn couplings_go_with_their_joints() {
    let release = "[[event]]\nname = \"drop\"\nkind = \"release\"\njoint = \"d1\"\ntime = 1\n";
    let again = "[[event]]\nname = \"again\"\nkind = \"engage\"\ncoupling = \"gear\"\ntime = 1.5\n";
    let scene = gears("", &format!("{release}{again}"));
    let mut simulation = simulation(&scene, Formulation::Recursive);
    let all = reports(&mut simulation, 2.0);
    assert!(all[0].notes[0].contains("`gear` goes with joint `d1`"), "{:?}", all[0].notes);
    assert!(all[1].notes[0].contains("needs a coordinate"), "{:?}", all[1].notes);
}

/// Random mechanisms: couplings of all kinds engage at once. Momentum, Carnot, and the same by all formulations.
#[test]
fn random_mechanisms_engage() {
    let none = Extras { fittings: false, motions: false };
    let kinds = [JointKind::Spherical, JointKind::Universal, JointKind::Planar, JointKind::Cylindrical];
    let mut n_checked = 0;
    for seed in 0..40 {
        let mut rng = Rng(seed);
        let mut scene = random_tree(&mut rng, 6, 0.4, &kinds, none);
        for k in 0..3 {
            super::agreement::couple(&mut rng, &mut scene, &format!("c{k}"), k);
        }
        scene.coupling.iter_mut().for_each(|c| c.absent = true);
        let floats = scene.body[0].position.is_some();
        if scene.coupling.len() < 2 {
            continue;
        }
        let mut speeds: Vec<Vec<f64>> = Vec::new();
        for formulation in FORMULATIONS {
            let mut simulation = simulation(&scene, formulation);
            let names: Vec<String> = scene.coupling.iter().map(|c| c.name.clone()).collect();
            let couplings = names.iter().map(|name| simulation.coupling(name).unwrap()).collect();
            simulation.apply("engage", &[Action::Engage { couplings, held: Vec::new() }]).unwrap();
            let report = simulation.events()[0].clone();
            // What is held is at rest, so what is lost is the energy of the jump.
            let lost = report.kinetic_energy.before - report.kinetic_energy.after;
            let scale = report.kinetic_energy.before;
            assert!((lost - report.kinetic_energy.of_jump).abs() < 1e-9 * scale, "{formulation:?} {seed}: {lost:e}");
            if floats && !scene.coupling.iter().any(|c| toml::to_string(c).unwrap().contains("\"ground\"")) {
                let (a, b) = (report.momentum_before, report.momentum_after);
                assert!(difference(&a.linear, &b.linear) < 1e-10 && difference(&a.angular, &b.angular) < 1e-10);
            }
            let seen = observe(&mut simulation);
            assert!(seen.couplings.iter().all(|c| c.gap.abs() < 1e-13 && c.rate.abs() < 1e-10), "{:?}", seen.couplings);
            speeds.push(seen.bodies.iter().flat_map(|b| [b.velocity, b.angular_velocity].concat()).collect());
        }
        // The jump is solved to some digits of its condition, which the oracle squares.
        let error = difference(&speeds[0], &speeds[2]).max(difference(&speeds[1], &speeds[0]));
        assert!(error < 1e-8, "{seed}: {error:e}");
        n_checked += 1;
    }
    assert!(n_checked > 20);
}

/// One lock comes while another goes: the factors of the one must not serve the other.
#[test]
fn one_coupling_takes_over_from_another() {
    let mut scene = gears("", "");
    let kind = CouplingKind::Coupler {
        joints: vec!["d0".into(), "d1".into()],
        coordinates: None,
        ratios: vec![1.0, -0.3],
        offset: None,
    };
    scene.coupling.push(Coupling { name: "other".into(), kind, absent: true, breaks: None });
    let mut found = Vec::new();
    for formulation in FORMULATIONS {
        let mut simulation = simulation(&scene, formulation);
        run(&mut simulation, 0.3);
        let [gear, other] = ["gear", "other"].map(|name| simulation.coupling(name).unwrap());
        simulation.apply("shift", &[Action::disengage(gear), Action::engage(other)]).unwrap();
        let v = observe(&mut simulation).joint_v;
        assert!((v[0] - 0.3 * v[1]).abs() < 1e-13, "{formulation:?}: {v:?}");
        found.push(v);
    }
    assert!(difference(&found[1], &found[0]) < 1e-13 && difference(&found[2], &found[0]) < 1e-12);
}
