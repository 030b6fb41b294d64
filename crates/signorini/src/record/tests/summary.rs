//! The summary's fields, and the numbers in them.

use super::*;

fn about() -> About {
    About {
        status: Status::Completed,
        scene: "oscillator".into(),
        formulation: Formulation::Dense,
        threads: 2,
        sim_seconds: 1.5,
        wall_seconds: 0.25,
        findings: vec!["something to know".into()],
    }
}

#[test]
fn fields_and_their_order() {
    let text = serde_json::to_string(&Summary::new(about(), &Statistics::default())).unwrap();
    let expected = r#"{"status":"completed","scene":"oscillator","version":"VERSION","formulation":"dense","solver":null,"threads":2,"steps":0,"sim_seconds":1.5,"wall_seconds":0.25,"energy":{"initial":0.0,"final":0.0,"max_drift":0.0},"residual":{"rel":0.0,"signorini":0.0,"coulomb":0.0,"dissipation":0.0,"bilateral":0.0},"penetration":0.0,"loop_drift":{"position":0.0,"velocity":0.0},"contacts":{"max":0,"mean":0.0},"events":0,"findings":["something to know"]}"#;
    assert_eq!(text, expected.replace("VERSION", VERSION));
}

#[test]
fn energy_drift_by_its_definition() {
    let mut statistics = Statistics::start(1.0, 10.0);
    let step = |kinetic, potential, work, dissipated| StepReport {
        kinetic,
        potential,
        work,
        dissipated,
        ..StepReport::default()
    };
    // E − E₀ = 1, of which 2 are work and 0.5 were dissipated: 1 − 2 + 0.5 = −0.5; scale 4 + |8 − 10| = 6.
    statistics.update(&step(4.0, 8.0, 2.0, 0.5));
    // In balance, at a smaller scale.
    statistics.update(&step(1.0, 11.0, 1.5, 0.5));
    let summary = Summary::new(about(), &statistics);
    assert_eq!(summary.energy.initial, 11.0);
    assert_eq!(summary.energy.last, 12.0);
    assert_eq!(summary.energy.max_drift, 0.5 / 6.0);
    assert_eq!(summary.steps, 2);
}

#[test]
fn what_is_not_a_number_is_the_worst() {
    let mut statistics = Statistics::start(0.0, 0.0);
    statistics.update(&StepReport { bilateral: f64::NAN, ..StepReport::default() });
    statistics.update(&StepReport { bilateral: 1e-3, ..StepReport::default() });
    assert_eq!(statistics.residual.rel, f64::INFINITY);
}

#[test]
fn worst_of_the_run_and_a_failed_step() {
    let scratch = Scratch::new();
    let mut run = start(&scratch.0, 1.0, &Output::default(), Oscillator::failing_at(30));
    let ending = run.drive(&scratch.0, |_, _| Wish::Continue).unwrap();
    assert_eq!(ending, Ending::Failed("the spring broke".to_owned()));
    let time = run.state().time;
    let statistics = run.finish(&scratch.0, 0.1).unwrap();
    let summary = Summary::new(About { status: Status::Stopped, ..about() }, &statistics);
    summary.write(&scratch.0).unwrap();
    let recording = Recording::open(&scratch.0).unwrap();
    assert_eq!(recording.summary().unwrap(), Some(summary.clone()));
    assert_eq!(summary.steps, 29);
    assert_eq!(summary.residual.bilateral, 1e-16 * 29.0);
    assert_eq!(summary.loop_drift, LoopDrift { position: 1e-14, velocity: 1e-13 });
    // What was computed before is there.
    let times = recording.column(Table::Trajectory, "t").unwrap();
    assert_eq!((times.len(), times.last()), (30, Some(&time)));
}
