//! The sheet of plots.

use super::*;

#[test]
fn a_sheet_of_coordinates_speeds_and_energy() {
    let scratch = Scratch::new();
    let mut run = start(&scratch.0, 20.0, &Output::default(), Oscillator::new());
    run.drive(&scratch.0, |_, _| Wish::Continue).unwrap();
    run.finish(&scratch.0, 0.0, |statistics| Ok(statistics.clone())).unwrap();
    write_plot(&scratch.0).unwrap();
    let sheet = fs::read_to_string(scratch.0.join(PLOT)).unwrap();
    for text in ["coordinates", "speeds", "energy", "slide.q0", "slide.v0", "kinetic", "time", "</svg>"] {
        assert!(sheet.contains(text), "no {text}");
    }
    assert!(!sheet.contains("dissipated") && !sheet.contains("NaN"));
}

#[test]
fn bodies_where_there_are_no_joints_and_some_of_many() {
    let scratch = Scratch::new();
    let bodies: Vec<String> = (0..40).map(|i| format!("b{i}")).collect();
    let layout = Layout::build(&bodies, &[], &[], &Output::default()).unwrap();
    let seen = Observation { bodies: vec![BodyMotion::default(); 40], ..Observation::default() };
    let mut recorder = Recorder::create(&scratch.0, layout, &seen).unwrap();
    recorder.record(&seen, None, &[]).unwrap();
    recorder.finish(false).unwrap();
    write_plot(&scratch.0).unwrap();
    let sheet = fs::read_to_string(scratch.0.join(PLOT)).unwrap();
    assert!(sheet.contains("coordinates (8 of 120 shown)") && sheet.contains("b0.x"));
}

#[test]
fn a_recording_of_nothing_is_drawn_as_such() {
    let scratch = Scratch::new();
    let layout = Layout::build(&[], &[], &[], &Output::default()).unwrap();
    Recorder::create(&scratch.0, layout, &Observation::default()).unwrap().finish(false).unwrap();
    write_plot(&scratch.0).unwrap();
    assert!(fs::read_to_string(scratch.0.join(PLOT)).unwrap().contains("nothing recorded"));
}
