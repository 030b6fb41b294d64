//! Singular positions: a four-bar whose bars all lie on a line.

use super::*;
use signorini::model::event::Action;

/// A parallelogram of unit bars, drawn straight at angle 0, with its rocker pinned by an event or from the start.
fn parallelogram(angle: f64, speed: f64, absent: bool) -> Scene {
    let bar =
        |name: &str| format!("{{ name = \"{name}\", mass = 1, com = [0.5, 0, 0], inertia = [0.001, 0.0834, 0.0834] }}");
    scene(&format!(
        r#"
        time = {{ end = 10, rtol = 1e-11 }}
        body = [{}, {}, {}]
        [[joint]]
        name = "crank"
        kind = "revolute"
        parent = "ground"
        child = "a"
        q = [{angle:?}]
        v = [{speed:?}]
        [[joint]]
        name = "knee"
        kind = "revolute"
        parent = "a"
        child = "b"
        parent_frame = {{ position = [1, 0, 0] }}
        q = [{:?}]
        v = [{:?}]
        [[joint]]
        name = "rocker"
        kind = "revolute"
        parent = "ground"
        child = "c"
        parent_frame = {{ position = [1, 0, 0] }}
        q = [{angle:?}]
        v = [{speed:?}]
        [[joint]]
        name = "close"
        kind = "revolute"
        parent = "b"
        child = "c"
        parent_frame = {{ position = [1, 0, 0] }}
        child_frame = {{ position = [1, 0, 0] }}
        absent = {absent}
        "#,
        bar("a"),
        bar("b"),
        bar("c"),
        -angle,
        -speed,
    ))
}

/// Entered with momentum it is passed on the branch that it was on: the bars stay parallel, and turn at constant speed.
#[test]
fn passed_through_with_momentum() {
    let mut simulation = Simulation::from_scene(&parallelogram(0.5, 2.0, false)).unwrap();
    while simulation.state().time < 10.0 {
        simulation.advance(10.0).unwrap();
        let seen = observe(&mut simulation);
        let t = simulation.state().time;
        // Free of gravity, crank and rocker turn at the constant rate of the parallelogram; six times through the line.
        assert!(
            (seen.joint_q[0] - 0.5 - 2.0 * t).abs() < 1e-6 && (seen.joint_q[0] + seen.joint_q[1]).abs() < 1e-6,
            "at {t}"
        );
    }
}

/// A loop that is closed while it lies on a line. Along the line one condition follows from the others for velocities as well as for
/// positions; velocities are unique, and what is not is named.
#[test]
fn closed_at_a_singular_position() {
    let run = |formulation| {
        let mut simulation = simulation(&parallelogram(0.0, 0.0, true), formulation, 1e-11);
        let body = simulation.body("b").unwrap();
        let blow = Action::impulse(body, [0.3, 0.0, 0.0].into(), [0.4, 1.0, 0.0].into());
        simulation.apply("blow", &[blow]).unwrap();
        let close = simulation.joint("close").unwrap();
        simulation.apply("close", &[Action::attach(close)]).unwrap();
        let redundant = simulation.dense().map(|d| d.n_redundant);
        (simulation.events()[0].clone(), redundant)
    };
    let (found, _) = run(Formulation::Recursive);
    let (oracle, redundant) = run(Formulation::Dense);
    for (name, v) in &found.velocity_after {
        assert!(apart(v, &oracle.velocity_after[name]) < 1e-11, "{name}: {v:?} {:?}", oracle.velocity_after[name]);
    }
    // Three out of the plane, one more along the line.
    assert_eq!(redundant, Some(4));
    assert_eq!(found.not_unique.len(), 4, "{:?}", found.not_unique);
    assert!(found.not_unique.iter().all(|row| row.starts_with("close: ")), "{:?}", found.not_unique);
    assert!(found.not_unique.contains(&"close: translation along x".to_owned()), "{:?}", found.not_unique);
    let k = found.kinetic_energy;
    assert!(k.of_jump > 0.0 && (k.before - k.after - k.of_jump).abs() < 1e-14);
    // Away from the line that condition counts.
    let mut bent = simulation(&parallelogram(0.3, 0.0, true), Formulation::Recursive, 1e-11);
    let close = bent.joint("close").unwrap();
    bent.apply("close", &[Action::attach(close)]).unwrap();
    assert_eq!(bent.events()[0].not_unique.len(), 3);
}
