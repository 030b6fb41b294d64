//! The contract on columns.

use super::*;

fn names(n: usize, stem: &str) -> Vec<String> {
    (0..n).map(|i| format!("{stem}{i}")).collect()
}

fn joints(n: usize) -> Vec<JointColumns> {
    (0..n)
        .map(|i| JointColumns {
            name: format!("j{i}"),
            q: 7 * i..7 * i + 7,
            v: 6 * i..6 * i + 6,
            ..JointColumns::default()
        })
        .collect()
}

#[test]
fn columns_by_default() {
    let layout = Layout::build(&names(1, "b"), &joints(1), &[], &Output::default()).unwrap();
    let expected = "t j0.q0 j0.q1 j0.q2 j0.q3 j0.q4 j0.q5 j0.q6 j0.v0 j0.v1 j0.v2 j0.v3 j0.v4 j0.v5 \
        b0.x b0.y b0.z b0.qw b0.qx b0.qy b0.qz b0.vx b0.vy b0.vz b0.wx b0.wy b0.wz";
    assert_eq!(layout.columns().join(" "), expected);
    assert!(!layout.needs_forces() && layout.findings().is_empty());
}

#[test]
fn columns_on_request() {
    let output = Output {
        bodies: Some(vec![]),
        joints: Some(vec!["j1".into()]),
        reactions: vec!["j0".into()],
        actuators: vec!["j?".into()],
        ..Output::default()
    };
    let joints = [
        JointColumns { name: "j0".into(), q: 0..1, v: 0..1, ..JointColumns::default() },
        JointColumns { name: "j1".into(), q: 1..2, v: 1..2, ..JointColumns::default() },
    ];
    let layout = Layout::build(&names(3, "b"), &joints, &["tip".into()], &output).unwrap();
    let expected = "t j1.q0 j1.v0 j0.mx j0.my j0.mz j0.fx j0.fy j0.fz j0.u0 j1.u0 tip.x tip.y tip.z";
    assert_eq!(layout.columns().join(" "), expected);
    assert!(layout.needs_forces());

    let seen = Observation {
        time: 3.0,
        joint_q: vec![1.0, 2.0],
        joint_v: vec![4.0, 5.0],
        reactions: vec![[6.0; 6], [0.0; 6]],
        actuators: vec![7.0, 8.0],
        markers: vec![[9.0, 10.0, 11.0]],
        ..Observation::default()
    };
    let mut row = Row::default();
    layout.fill(&seen, None, &[], &mut row);
    assert_eq!(row.values, [3.0, 2.0, 5.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]);
    assert!(!row.missing.contains(&true));
}

#[test]
fn no_two_columns_have_one_name() {
    let joints = [JointColumns { name: "a".into(), q: 0..7, v: 0..6, ..JointColumns::default() }];
    let output = Output { reactions: vec!["*".into()], actuators: vec!["*".into()], ..Output::default() };
    let bodies = ["a".into(), "a.q0".into(), "a.x".into(), "t".into()];
    let layout = Layout::build(&bodies, &joints, &["b".into(), "a.p".into()], &output).unwrap();
    let mut columns = layout.columns().to_vec();
    columns.sort();
    columns.dedup();
    assert_eq!(columns.len(), layout.columns().len());
    let error = Layout::build(&bodies, &joints, &["a".into()], &output).unwrap_err();
    assert!(error.is_input() && error.to_string().contains("`a.x`"), "{error}");
}

#[test]
fn a_large_mechanism_is_recorded_only_where_asked_for() {
    let (bodies, joints) = (names(1001, "b"), joints(1001));
    let layout = Layout::build(&bodies, &joints, &[], &Output::default()).unwrap();
    assert_eq!(layout.columns(), ["t"]);
    assert_eq!(layout.findings().len(), 2);
    assert!(layout.findings()[0].contains("1001 joints"), "{:?}", layout.findings());
    let output = Output { bodies: Some(vec!["b1?".into(), "b1000".into()]), ..Output::default() };
    let layout = Layout::build(&bodies, &joints, &[], &output).unwrap();
    assert_eq!(layout.columns().len(), 1 + 11 * 13);
    assert_eq!(layout.findings().len(), 1);
    let layout = Layout::build(&names(1000, "b"), &[], &[], &Output::default()).unwrap();
    assert_eq!(layout.columns().len(), 13_001);
}

#[test]
fn names_that_fit_nothing_are_mistakes() {
    let output = Output { joints: Some(vec!["crnak".into()]), ..Output::default() };
    let joints = [JointColumns { name: "crank".into(), q: 0..1, v: 0..1, ..JointColumns::default() }];
    let error = Layout::build(&[], &joints, &[], &output).unwrap_err();
    assert!(error.is_input());
    assert_eq!(
        error.to_string(),
        "`crnak` in output.joints fits none of the 1 joints of the scene; did you mean `crank`?"
    );
    let output = Output { bodies: Some(vec!["*".into()]), ..Output::default() };
    assert!(Layout::build(&[], &joints, &[], &output).is_ok(), "all of none is none");
}

#[test]
fn too_many_columns_are_refused_and_the_most_possible_can_be_read() {
    let everything = Output { bodies: Some(vec!["*".into()]), joints: Some(vec![]), ..Output::default() };
    let error = Layout::build(&names(20_000, "b"), &[], &[], &everything).unwrap_err();
    assert!(matches!(error, RecordError::TooManyColumns { asked: 260_001, .. }));

    let scratch = Scratch::new();
    let n = 19_000;
    let layout = Layout::build(&names(n, "b"), &[], &[], &everything).unwrap();
    let seen = Observation { bodies: vec![BodyMotion::default(); n], ..Observation::default() };
    let mut recorder = Recorder::create(&scratch.0, layout, &seen).unwrap();
    recorder.record(&seen, None, &[]).unwrap();
    recorder.flush().unwrap();
    assert_eq!(Recording::open(&scratch.0).unwrap().column(Table::Trajectory, "b18999.wz").unwrap(), [0.0]);
    recorder.finish(false).unwrap();
    assert_eq!(Recording::open(&scratch.0).unwrap().column(Table::Trajectory, "b18999.wz").unwrap(), [0.0]);
}
