//! However often a run is interrupted, its files are those of a run that never was.

use super::*;
use proptest::prelude::*;

const FILES: [&str; 6] =
    ["trajectory.parquet", "steps.parquet", "contacts.parquet", "trajectory.csv", "steps.csv", "contacts.csv"];

fn finished(folder: &Path) -> Vec<Vec<u8>> {
    FILES.iter().map(|name| fs::read(folder.join(name)).unwrap()).collect()
}

fn uninterrupted(folder: &Path, end: f64, output: &Output) -> (Vec<Vec<u8>>, Statistics) {
    let mut run = start(folder, end, output, Oscillator::new());
    assert_eq!(run.drive(folder, |_, _| Wish::Continue).unwrap(), Ending::Completed);
    let (statistics, _) = run.finish(folder, 1.0, |statistics| Ok(statistics.clone())).unwrap();
    (finished(folder), statistics)
}

/// Killed: the run is dropped some steps after its last checkpoint. Stopped: it is brought to an orderly end.
fn interrupted(folder: &Path, end: f64, output: &Output, breaks: &[(u64, bool)]) -> (Vec<Vec<u8>>, Statistics) {
    let mut run = start(folder, end, output, Oscillator::new());
    for &(steps, is_killed) in breaks {
        let first = run.state().steps;
        let ending = run.drive(folder, |motion, _| match motion.state().steps - first {
            done if done >= steps => Wish::Stop,
            done if is_killed && done == steps / 2 => Wish::Checkpoint { wall_seconds: 0.5 },
            done if done.is_multiple_of(5) => Wish::Flush,
            _ => Wish::Continue,
        });
        let is_over = ending.unwrap() == Ending::Completed;
        if is_killed {
            drop(run);
        } else {
            run.finish(folder, 1.0, |statistics| Ok(statistics.clone())).unwrap();
            assert!(!Table::Steps.stream(folder).exists());
        }
        run = go_on(folder, end, output);
        if is_over && !is_killed {
            break;
        }
    }
    assert_eq!(run.drive(folder, |_, _| Wish::Continue).unwrap(), Ending::Completed);
    let (statistics, _) = run.finish(folder, 1.0, |statistics| Ok(statistics.clone())).unwrap();
    (finished(folder), statistics)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn the_same_bits(
        breaks in prop::collection::vec((1u64..60, any::<bool>()), 1..5),
        interval in prop::option::of(0.01f64..0.3),
        every in prop::option::of(1u64..9),
    ) {
        let scratch = Scratch::new();
        let output = Output { interval, every, actuators: vec!["slide".into()], ..Output::default() };
        let one = uninterrupted(&scratch.folder("one"), 1.5, &output);
        let other = interrupted(&scratch.folder("other"), 1.5, &output, &breaks);
        prop_assert!(one == other);
    }
}

#[test]
fn a_run_of_several_row_groups_and_batches() {
    let scratch = Scratch::new();
    let output = Output { bodies: Some(Vec::new()), ..Output::default() };
    let end = 800.0;
    let one = uninterrupted(&scratch.folder("one"), end, &output);
    let rows = Recording::open(&scratch.0.join("one")).unwrap().column(Table::Steps, "t").unwrap().len();
    assert!(rows > crate::record::parquet::group_rows(19), "{rows} rows are one group");
    let breaks = [(1, true), (66_000, false), (5_000, true), (3, false)];
    let other = interrupted(&scratch.folder("other"), end, &output, &breaks);
    assert!(one == other);
}

#[test]
fn a_completed_run_can_be_prolonged() {
    let scratch = Scratch::new();
    // 1.0 is a multiple of the interval, so that the prolonged run takes the steps of a long one.
    let output = Output { interval: Some(0.25), ..Output::default() };
    let long = uninterrupted(&scratch.folder("long"), 2.0, &output);
    let folder = scratch.folder("short");
    uninterrupted(&folder, 1.0, &output);
    let mut run = go_on(&folder, 2.0, &output);
    run.drive(&folder, |_, _| Wish::Continue).unwrap();
    let (statistics, _) = run.finish(&folder, 1.0, |statistics| Ok(statistics.clone())).unwrap();
    assert!(long == (finished(&folder), statistics));
}

#[test]
fn a_finish_cut_short_is_done_again() {
    let scratch = Scratch::new();
    let output = Output::default();
    let (files, _) = uninterrupted(&scratch.folder("one"), 1.0, &output);
    let folder = scratch.folder("other");
    let mut run = start(&folder, 1.0, &output, Oscillator::new());
    run.drive(&folder, |_, _| Wish::Continue).unwrap();
    // As if killed between the first table and the second: half-made files lie about, the streams are still there.
    let streams = Table::ALL.iter().map(|table| table.stream(&folder));
    let streams: Vec<_> = streams.flat_map(|stream| [crate::record::sums::beside(&stream), stream]).collect();
    drop(run.recorder_for_test().flush());
    let kept: Vec<_> = streams.iter().map(|path| fs::read(path).unwrap()).collect();
    run.finish(&folder, 1.0, |statistics| Ok(statistics.clone())).unwrap();
    for (path, bytes) in streams.iter().zip(kept) {
        fs::write(path, bytes).unwrap();
    }
    fs::remove_file(Table::Steps.parquet(&folder)).unwrap();
    fs::write(folder.join("steps.parquet.tmp"), b"half").unwrap();
    finalise(&folder, true).unwrap();
    assert!(files == finished(&folder));
    assert!(!folder.join("steps.parquet.tmp").exists());
}

#[test]
fn what_would_change_the_result_is_refused() {
    let folder = Path::new("run");
    let same = identity(1.0);
    assert!(same.check_same(&identity(2.0), folder).is_ok(), "the end may move");
    let mut other = identity(1.0);
    other.rtol = 1e-6;
    other.integrator = Integrator::Rk4;
    let error = same.check_same(&other, folder).unwrap_err();
    assert!(error.is_input());
    let text = error.to_string();
    assert!(text.contains("tolerance") && text.contains("integrator") && text.contains("run"), "{text}");
    let edited = Identity { scene_hash: compute_hash(b"another scene"), ..identity(1.0) };
    assert!(same.check_same(&edited, folder).unwrap_err().to_string().contains("text was changed"));
}

#[test]
fn a_checkpoint_keeps_every_bit() {
    let scratch = Scratch::new();
    drop(start(&scratch.0, 1.0, &Output::default(), Oscillator::new()));
    let mut checkpoint = Checkpoint::read(&scratch.0).unwrap();
    checkpoint.state.q = vec![0.1 + 0.2, -0.0, f64::MIN_POSITIVE / 3.0, f64::MAX, 1.0 / 3.0, 5e-324];
    checkpoint.statistics.residual.rel = f64::INFINITY;
    checkpoint.write(&scratch.0).unwrap();
    let again = Checkpoint::read(&scratch.0).unwrap();
    assert_eq!(again, checkpoint);
    assert!(again.state.q[1].is_sign_negative());
}

#[test]
fn no_checkpoint_no_continuation() {
    let scratch = Scratch::new();
    let error = Checkpoint::read(&scratch.0).unwrap_err();
    assert!(error.is_input() && error.to_string().contains("checkpoint.json"), "{error}");
}

#[test]
fn a_checkpoint_of_another_format_is_refused() {
    let scratch = Scratch::new();
    drop(start(&scratch.0, 1.0, &Output::default(), Oscillator::new()));
    let mut checkpoint = Checkpoint::read(&scratch.0).unwrap();
    checkpoint.format = 0;
    checkpoint.write(&scratch.0).unwrap();
    let error = Checkpoint::read(&scratch.0).unwrap_err();
    assert!(error.is_input() && error.to_string().contains("has format 1, allowed is 2"), "{error}");
}
