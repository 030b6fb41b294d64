//! What is written is what is read, in every format.

use super::*;

fn column(recording: &Recording, name: &str) -> Vec<f64> {
    recording.column(Table::Trajectory, name).unwrap()
}

#[test]
fn stream_and_finished_files_hold_what_was_seen() {
    let scratch = Scratch::new();
    let output = Output { interval: Some(0.1), reactions: vec!["slide".into()], ..Output::default() };
    let mut expected = Vec::new();
    let mut run = start(&scratch.0, 1.0, &output, Oscillator::new());
    expected.push((0.0, 1.0, 0.25));
    run.drive(&scratch.0, |motion, _| {
        expected.push((motion.state().time, motion.state().q[0], motion.state().v[0]));
        Wish::Flush
    })
    .unwrap();
    let times: Vec<f64> = (0..=10).map(|k| 0.1 * f64::from(k)).collect();
    expected.retain(|row| times.contains(&row.0));
    for is_finished in [false, true] {
        let recording = Recording::open(&scratch.0).unwrap();
        assert_eq!(Table::Steps.stream(&scratch.0).exists(), !is_finished);
        assert_eq!(column(&recording, "t"), times);
        assert_eq!(column(&recording, "slide.q0"), expected.iter().map(|row| row.1).collect::<Vec<_>>());
        assert_eq!(column(&recording, "mass.vx"), expected.iter().map(|row| row.2).collect::<Vec<_>>());
        assert_eq!(column(&recording, "slide.fz"), vec![1.0; times.len()]);
        assert!(column(&recording, "mass.z").iter().all(|z| z.is_sign_negative()));
        // Out of order and twice.
        let several = recording.columns(Table::Steps, &["h", "t", "h"]).unwrap();
        assert_eq!(several[0], several[2]);
        assert!(several[1].windows(2).all(|pair| pair[0] < pair[1]));
        assert!(recording.words(Table::Steps, "status").unwrap().iter().all(|word| word == "solved"));
        assert!(recording.column(Table::Steps, "status").is_err());
        assert!(recording.column(Table::Trajectory, "nobody.x").is_err());
        if !is_finished {
            run.recorder_for_test().flush().unwrap();
            finalise(&scratch.0, false).unwrap();
        }
    }
}

#[test]
fn a_joint_that_does_not_exist_yet_has_no_value() {
    let scratch = Scratch::new();
    let output = Output::default();
    let mut seen = Observation::default();
    Oscillator::new().observe(false, &mut seen).unwrap();
    let mut recorder = Recorder::create(&scratch.0, layout(&output), &seen).unwrap();
    for exists in [[true], [false], [true]] {
        recorder.record(&seen, None, &exists).unwrap();
    }
    recorder.flush().unwrap();
    let from_stream = column(&Recording::open(&scratch.0).unwrap(), "slide.v0");
    recorder.finish(true).unwrap();
    finalise(&scratch.0, true).unwrap();
    let from_file = column(&Recording::open(&scratch.0).unwrap(), "slide.v0");
    for values in [from_stream, from_file] {
        assert_eq!((values[0], values[2]), (0.25, 0.25));
        assert!(values[1].is_nan());
    }
    let text = fs::read_to_string(Table::Trajectory.csv(&scratch.0)).unwrap();
    assert!(text.lines().nth(2).unwrap().starts_with("0.0,,,1.0,"), "{text}");
}

#[test]
fn text_reads_back_to_the_same_bits() {
    let scratch = Scratch::new();
    let values = [0.1 + 0.2, -0.0, 5e-324, f64::MAX, 1.0 / 3.0, 6.02214076e23, -1e-7, f64::MIN_POSITIVE];
    let output = Output { bodies: Some(vec![]), marker: vec![], ..Output::default() };
    let joints = [JointColumns { name: "a \"quoted\", name".into(), q: 0..1, v: 0..0, ..JointColumns::default() }];
    let layout = Layout::build(&[], &joints, &[], &output).unwrap();
    let mut seen = Observation { joint_q: vec![0.0], ..Observation::default() };
    let mut recorder = Recorder::create(&scratch.0, layout, &seen).unwrap();
    for value in values {
        seen.joint_q[0] = value;
        recorder.record(&seen, None, &[]).unwrap();
    }
    recorder.finish(true).unwrap();
    finalise(&scratch.0, true).unwrap();
    let text = fs::read_to_string(Table::Trajectory.csv(&scratch.0)).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("t,\"a \"\"quoted\"\", name.q0\""));
    for (line, value) in lines.zip(values) {
        let read: f64 = line.split(',').nth(1).unwrap().parse().unwrap();
        assert_eq!(read.to_bits(), value.to_bits(), "{line}");
    }
    let read = column(&Recording::open(&scratch.0).unwrap(), "a \"quoted\", name.q0");
    assert!(read.iter().zip(values).all(|(a, b)| a.to_bits() == b.to_bits()));
}

#[test]
fn rows_at_the_start_and_the_end_and_by_number_of_steps() {
    let scratch = Scratch::new();
    let output = Output { every: Some(7), ..Output::default() };
    let mut run = start(&scratch.0, 0.5, &output, Oscillator::new());
    run.drive(&scratch.0, |_, _| Wish::Continue).unwrap();
    let steps = run.state().steps;
    run.finish(&scratch.0, 0.0, |statistics| Ok(statistics.clone())).unwrap();
    let recording = Recording::open(&scratch.0).unwrap();
    let times = column(&recording, "t");
    let all = recording.column(Table::Steps, "t").unwrap();
    let expected_rows = 1 + steps / 7 + u64::from(!steps.is_multiple_of(7));
    assert_eq!(times.len() as u64, expected_rows);
    assert_eq!((times[0], times[1], times[times.len() - 1]), (0.0, all[6], 0.5));
}

#[test]
fn a_row_within_rounding_of_the_end_is_the_end() {
    for (interval, end) in [(0.1, 0.3), (0.1, 0.7), (0.7, 2.1), (1.0 / 3.0, 1.0)] {
        let scratch = Scratch::new();
        let output = Output { interval: Some(interval), ..Output::default() };
        let mut run = start(&scratch.0, end, &output, Oscillator::new());
        run.drive(&scratch.0, |_, _| Wish::Continue).unwrap();
        run.finish(&scratch.0, 0.0, |statistics| Ok(statistics.clone())).unwrap();
        let recording = Recording::open(&scratch.0).unwrap();
        let times = column(&recording, "t");
        assert_eq!(times.len() as f64, (end / interval).round() + 1.0, "{times:?}");
        assert_eq!(times.last(), Some(&end));
        assert!(recording.column(Table::Steps, "h").unwrap().iter().all(|&h| h > 1e-9));
    }
}

#[test]
fn schedules_that_make_no_sense() {
    let with = |interval, every| Output { interval, every, ..Output::default() };
    for interval in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Schedule::new(1.0, &with(Some(interval), None)).unwrap_err().is_input());
    }
    assert!(Schedule::new(1.0, &with(None, Some(0))).is_err());
    assert!(Schedule::new(f64::NAN, &with(None, None)).is_err());
    assert!(Schedule::new(-1.0, &with(None, None)).is_err());
}

#[test]
fn folders_that_hold_a_run() {
    let scratch = Scratch::new();
    let mine = scratch.0.join("notes.txt");
    fs::write(&mine, "mine").unwrap();
    prepare(&scratch.0, false).unwrap();
    drop(start(&scratch.0, 0.1, &Output::default(), Oscillator::new()));
    assert!(holds_run(&scratch.0));
    let error = prepare(&scratch.0, false).unwrap_err();
    assert!(error.is_input() && error.to_string().contains("already holds a run"), "{error}");
    prepare(&scratch.0, true).unwrap();
    assert!(!holds_run(&scratch.0) && mine.exists());
}

/// Contacts and what pushes in joints, of those steps that end on a regular row.
#[test]
fn contacts_of_recorded_steps() {
    let scratch = Scratch::new();
    let output = Output { every: Some(5), actuators: vec!["slide".into()], ..Output::default() };
    let mut run = start(&scratch.0, 0.5, &output, Oscillator::new());
    let (mut contacts, mut forces) = (Vec::new(), vec![f64::NAN]);
    run.drive(&scratch.0, |motion, report| {
        if motion.state().steps.is_multiple_of(5) {
            contacts.extend(motion.contacts().iter().map(|contact| (report.time, *contact)));
            forces.push(motion.joint_constraint_forces().first().map_or(0.0, |push| push.force));
        }
        Wish::Continue
    })
    .unwrap();
    let is_end_regular = run.state().steps.is_multiple_of(5);
    run.finish(&scratch.0, 0.1, |statistics| Ok(statistics.clone())).unwrap();
    let recording = Recording::open(&scratch.0).unwrap();
    let column = |name: &str| recording.column(Table::Contacts, name).unwrap();
    let words = |name: &str| recording.words(Table::Contacts, name).unwrap();
    assert!(contacts.len() > 5);
    assert!(column("t").iter().eq(contacts.iter().map(|(time, _)| time)));
    assert!(column("pn").iter().eq(contacts.iter().map(|(_, contact)| &contact.impulse[0])));
    assert!(column("ut1").iter().eq(contacts.iter().map(|(_, contact)| &contact.velocity[1])));
    assert!(column("t1x").iter().all(|x| *x == 1.0) && column("mt1").iter().all(|x| *x == 0.0));
    assert!(column("spin").iter().eq(contacts.iter().map(|(_, contact)| &contact.moment[0])));
    assert!(column("mt2").iter().eq(contacts.iter().map(|(_, contact)| &contact.moment[2])));
    assert!(column("wn").iter().eq(contacts.iter().map(|(_, contact)| &contact.turn[0])));
    assert!(words("body_a").iter().all(|name| name == "ground"));
    let names =
        contacts.iter().map(|(_, contact)| if contact.id[1] == 0 { ("0-7-0", "slip") } else { ("1-7-1f", "stick") });
    let (ids, modes): (Vec<&str>, Vec<&str>) = names.unzip();
    assert_eq!(
        (words("id"), words("mode")),
        (ids.iter().map(|x| x.to_string()).collect(), modes.iter().map(|x| x.to_string()).collect())
    );
    // The row at the end is there because the run ends, not because a step is due.
    forces.extend((!is_end_regular).then_some(f64::NAN));
    let limits = recording.column(Table::Trajectory, "slide.limit0").unwrap();
    let frictions = recording.column(Table::Trajectory, "slide.friction0").unwrap();
    assert_eq!(format!("{limits:?}"), format!("{forces:?}"));
    assert!(limits.iter().zip(&frictions).all(|(a, b)| a.is_nan() && b.is_nan() || a + b == 0.0));
}
