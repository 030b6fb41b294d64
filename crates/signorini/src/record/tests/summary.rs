//! The summary's fields, and the numbers in them.

use super::*;

fn about() -> About {
    About {
        status: Status::Completed,
        scene: "oscillator".into(),
        formulation: Formulation::Dense,
        solver: Some("newton".into()),
        threads: 2,
        sim_seconds: 1.5,
        wall_seconds: 0.25,
        findings: vec!["something to know".into()],
    }
}

#[test]
fn fields_and_their_order() {
    let text = serde_json::to_string(&Summary::new(about(), &Statistics::default())).unwrap();
    let expected = r#"{"status":"completed","scene":"oscillator","version":"VERSION","formulation":"dense","solver":"newton","threads":2,"steps":0,"sim_seconds":1.5,"wall_seconds":0.25,"energy":{"initial":0.0,"final":0.0,"max_drift":0.0},"residual":{"rel":0.0,"signorini":0.0,"coulomb":0.0,"dissipation":0.0,"bilateral":0.0},"penetration":0.0,"loop_drift":{"position":0.0,"velocity":0.0},"contacts":{"max":0,"mean":0.0},"events":0,"findings":["something to know"]}"#;
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
fn at_rest_rounding_is_no_drift() {
    let mut statistics = Statistics::start(0.0, 100.0);
    let at_rest = |k: u64| StepReport {
        kinetic: 1e-30,
        potential: 100.0 + f64::EPSILON * (k % 3) as f64 * 100.0,
        dissipated: 1e-17 * k as f64,
        ..StepReport::default()
    };
    (0..100).for_each(|k| statistics.update(&at_rest(k)));
    assert_eq!(statistics.max_drift(), 0.0);
    // What rounding cannot explain counts in full.
    statistics.update(&StepReport { potential: 100.0 + 1e-10, ..at_rest(0) });
    assert!(statistics.max_drift() > 0.99, "{}", statistics.max_drift());
}

#[test]
fn what_contact_brings() {
    let mut statistics = Statistics::start(1.0, 0.0);
    let mut step = StepReport { time: 0.5, kinetic: 1.0, contacts: 3, penetration: 1e-6, ..StepReport::default() };
    statistics.update(&step);
    (step.residual.rel, step.residual.signorini, step.residual.coulomb) = (1e-3, 1e-4, 1e-5);
    statistics.update(&StepReport { contacts: 1, is_unsolved: true, impact_energy_gain: 0.1, bilateral: 1e-9, ..step });
    let summary = Summary::new(about(), &statistics);
    assert_eq!((summary.contacts.max, summary.contacts.mean), (3, 2.0));
    assert_eq!(summary.penetration, 1e-6);
    assert_eq!(
        summary.residual,
        Residual { rel: 1e-3, signorini: 1e-4, coulomb: 1e-5, dissipation: 0.0, bilateral: 1e-9 }
    );
    let findings = statistics.findings();
    assert!(findings[0].starts_with("restitution added energy 1.000e-1"), "{findings:?}");
    assert!(
        findings[1].starts_with("1 of 2 steps were not solved to the tolerance, the first is the one to t = 0.5;"),
        "{findings:?}"
    );
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
    let (statistics, _) = run.finish(&scratch.0, 0.1, |statistics| Ok(statistics.clone())).unwrap();
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
