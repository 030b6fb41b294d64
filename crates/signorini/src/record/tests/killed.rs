//! A run that is killed leaves streams that open up to the last whole batch, wherever they were cut.

use super::*;
use crate::record::stream;

#[test]
fn a_stream_cut_anywhere_in_its_last_batch_opens_up_to_the_one_before() {
    let scratch = Scratch::new();
    let output = Output::default();
    let mut run = start(&scratch.0, 1.0, &output, Oscillator::new());
    // A flush after every tenth step, then a "kill": the run is dropped, never finished.
    let ending =
        run.drive(
            &scratch.0,
            |motion, _| if motion.state().steps.is_multiple_of(10) { Wish::Flush } else { Wish::Continue },
        );
    assert_eq!(ending.unwrap(), Ending::Completed);
    drop(run);

    let path = Table::Steps.stream(&scratch.0);
    let whole = fs::read(&path).unwrap();
    let ends = stream::scan(&path).unwrap();
    assert!(ends.len() > 3, "the schema and several batches");
    let [.., before, last] = ends[..] else { panic!("too few batches") };
    assert_eq!(last.bytes, whole.len() as u64);
    // While a batch is being written its prefix is still missing.
    let mut half = whole.clone();
    half[before.bytes as usize..][..8].fill(0);
    for length in [1, 7, 8, 9, 500, last.bytes - before.bytes] {
        fs::write(&path, &half[..(before.bytes + length) as usize]).unwrap();
        assert_eq!(stream::scan(&path).unwrap().last(), Some(&before), "{length} bytes of a batch under way");
    }
    fs::write(&path, &whole).unwrap();
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    for length in (before.bytes..=last.bytes).rev() {
        file.set_len(length).unwrap();
        let expected = if length == last.bytes { last } else { before };
        assert_eq!(stream::scan(&path).unwrap().last(), Some(&expected), "cut at byte {length}");
        if (length - before.bytes).is_multiple_of(101) || length == last.bytes {
            let times = Recording::open(&scratch.0).unwrap().column(Table::Steps, "t").unwrap();
            assert_eq!(times.len() as u64, expected.rows, "cut at byte {length}");
        }
    }
}

#[test]
fn a_stream_cut_before_its_schema_is_whole_is_an_error() {
    let scratch = Scratch::new();
    drop(start(&scratch.0, 0.5, &Output::default(), Oscillator::new()));
    let path = Table::Trajectory.stream(&scratch.0);
    let whole = fs::read(&path).unwrap();
    let schema = stream::scan(&path).unwrap()[0].bytes as usize;
    for length in [0, 1, 7, 8, 9, schema - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        let error = Recording::open(&scratch.0).unwrap_err();
        assert!(error.to_string().contains("trajectory.arrows"), "{error}");
    }
}

#[test]
fn what_is_no_stream_is_named_as_such() {
    let scratch = Scratch::new();
    drop(start(&scratch.0, 0.5, &Output::default(), Oscillator::new()));
    fs::write(Table::Steps.stream(&scratch.0), b"something else altogether").unwrap();
    let error = Recording::open(&scratch.0).unwrap_err();
    assert!(error.to_string().contains("not the beginning of a message"), "{error}");
}

#[test]
fn a_damaged_stream_is_an_error_and_no_panic() {
    let scratch = Scratch::new();
    let mut run = start(&scratch.0, 0.2, &Output::default(), Oscillator::new());
    run.drive(&scratch.0, |_, _| Wish::Flush).unwrap();
    drop(run);
    let path = Table::Steps.stream(&scratch.0);
    let whole = fs::read(&path).unwrap();
    for place in (0..whole.len()).step_by(31) {
        let mut damaged = whole.clone();
        damaged[place] ^= 0x55;
        fs::write(&path, &damaged).unwrap();
        let read = Recording::open(&scratch.0).and_then(|recording| recording.column(Table::Steps, "t"));
        let error = read.unwrap_err().to_string();
        assert!(error.contains("steps.arrows is damaged: the record of rows"), "byte {place}: {error}");
    }
}

/// A device on which every write fails for lack of space stands in for a full disk.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_that_names_the_file() {
    let scratch = Scratch::new();
    std::os::unix::fs::symlink("/dev/full", Table::Steps.stream(&scratch.0)).unwrap();
    let schedule = Schedule::new(1.0, &Output::default()).unwrap();
    let layout = layout(&Output::default());
    let error = RecordedMotion::create(&scratch.0, layout, schedule, identity(1.0), Oscillator::new()).err().unwrap();
    assert!(!error.is_input());
    assert!(error.to_string().contains("cannot append to"), "{error}");
    let RecordError::Io { source, .. } = error else { panic!("not an I/O error") };
    assert_eq!(source.kind(), std::io::ErrorKind::StorageFull);
}
