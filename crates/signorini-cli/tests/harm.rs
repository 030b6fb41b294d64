//! What may happen to a run and its folder: kills, damage, two writers, readers that go away, limits. Nothing is lost that was flushed, and
//! nothing wrong is accepted.
//!
//! A small share runs with every test. `SIGNORINI_HARM=1000 cargo test --release -p signorini-cli --test harm` does that many kills and twice as
//! many damages.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const SIGNORINI: &str = env!("CARGO_BIN_EXE_signorini");

/// Scenes of every kind, and an end that keeps each run below a second.
const SCENES: [(&str, &str); 10] = [
    ("box-stack", "0.2"),
    ("bouncing-ball", "1"),
    ("breaking-chain", "0.5"),
    ("docking", "2"),
    ("double-pendulum", "3"),
    ("four-bar", "2"),
    ("four-bar-stop", "0.5"),
    ("joint-lock", "1"),
    ("ratchet", "0.3"),
    ("walker", "0.05"),
];

/// How much harm is done: kills, and half as many as damages.
fn rounds(least: usize) -> usize {
    std::env::var("SIGNORINI_HARM").ok().and_then(|text| text.parse().ok()).unwrap_or(least)
}

/// The same numbers in every run (splitmix64).
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % sides as u64) as usize
    }
}

struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = format!("signorini-harm-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(SIGNORINI);
        command.args(arguments.split_whitespace()).current_dir(&self.0).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn signorini(&self, arguments: &str) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn text(output: &Output) -> String {
    let both = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    both.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn expect(output: &Output, code: i32, messages: &[&str]) {
    let text = text(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    for message in messages {
        assert!(text.contains(message), "no `{message}` in: {text}");
    }
}

/// Files whose bytes are those of the run and not of the clock.
fn results(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<(String, Vec<u8>)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_file())
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
        .filter(|(name, _)| !["run.json", "summary.json", "checkpoint.json", "report.html"].contains(&name.as_str()))
        .map(|(name, path)| (name, fs::read(path).unwrap()))
        .collect();
    found.sort();
    found
}

fn assert_same(what: &str, wanted: &[(String, Vec<u8>)], found: &[(String, Vec<u8>)]) {
    let names = |files: &[(String, Vec<u8>)]| files.iter().map(|file| file.0.clone()).collect::<Vec<_>>();
    assert_eq!(names(wanted), names(found), "{what}");
    for ((name, a), (_, b)) in wanted.iter().zip(found) {
        assert!(a == b, "{what}: {name} differs");
    }
}

/// A run that records everything.
fn arguments(scene: &str, until: &str, out: &str) -> String {
    format!("run {scene} --until {until} --out {out} --csv --quiet --no-report --checkpoint-every 0.05")
}

/// Killed at any instant, some thrice: every file is that of a run that never was.
#[test]
fn kills() {
    let scratch = Scratch::new();
    let mut dice = Dice(1);
    let mut whole = Vec::new();
    for (scene, until) in SCENES {
        let began = Instant::now();
        expect(&scratch.signorini(&arguments(scene, until, &format!("{scene}-whole"))), 0, &[]);
        whole.push((results(&scratch.path(&format!("{scene}-whole"))), began.elapsed()));
    }
    let mut killed = 0;
    for round in 0..rounds(SCENES.len()) {
        let (scene, until) = SCENES[round % SCENES.len()];
        let (wanted, took) = &whole[round % SCENES.len()];
        let out = format!("{scene}-{round}");
        let mut command = arguments(scene, until, &out);
        for _ in 0..[1, 1, 3][round % 3] {
            let mut child = scratch.command(&command).spawn().unwrap();
            std::thread::sleep(took.mul_f64(dice.throw(1000) as f64 / 1000.0));
            child.kill().unwrap();
            let output = child.wait_with_output().unwrap();
            killed += usize::from(output.status.code().is_none());
            let has_begun = scratch.path(&out).join("run.json").exists();
            command = match has_begun {
                true => format!("run --resume {out} --quiet --checkpoint-every 0.05"),
                false => arguments(scene, until, &out),
            };
        }
        let output = scratch.signorini(&command);
        expect(&output, 0, &[]);
        assert_same(&out, wanted, &results(&scratch.path(&out)));
        expect(&scratch.signorini(&format!("verify {out}")), 0, &["it was brought to its end", "can go on"]);
        fs::remove_dir_all(scratch.path(&out)).unwrap();
    }
    assert!(2 * killed > rounds(SCENES.len()), "only {killed} processes were still there to be killed");
}

fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// One change of one file: a bit, a digit, a cut, a hole, more at the end, nothing left, gone.
fn damage(dice: &mut Dice, path: &Path) -> String {
    let mut bytes = fs::read(path).unwrap();
    let at = dice.throw(bytes.len().max(1));
    let what = match dice.throw(7) {
        _ if bytes.is_empty() => {
            bytes.push(b'7');
            "a byte where none was"
        }
        0 => {
            bytes[at] ^= 1 << dice.throw(8);
            "a bit"
        }
        1 => {
            bytes[at] = if bytes[at] == b'7' { b'8' } else { b'7' };
            "a digit"
        }
        2 => {
            bytes.truncate(at);
            "a cut"
        }
        3 => {
            let end = (at + 1 + dice.throw(64)).min(bytes.len());
            bytes.drain(at..end);
            "a hole"
        }
        4 => {
            let end = (at + 1 + dice.throw(512)).min(bytes.len());
            let before = bytes.clone();
            bytes[at..end].fill(0);
            if before == bytes {
                bytes[at] = 1;
            }
            "zeros"
        }
        5 => {
            bytes.extend_from_slice(b"7\n");
            "more at the end"
        }
        _ => {
            fs::remove_file(path).unwrap();
            return "removed".to_owned();
        }
    };
    fs::write(path, bytes).unwrap();
    format!("{what} at byte {at}")
}

/// Damage to a folder, finished or broken off, is found by `verify`, or has touched nothing that counts; a run that goes on with it is refused or
/// has the right result.
#[test]
fn damaged_folders() {
    let scratch = Scratch::new();
    let mut dice = Dice(2);
    let (mut found, mut refused) = (0, 0);
    let scenes = [("docking", "2"), ("box-stack", "0.1"), ("joint-lock", "1")];
    let mut folders = Vec::new();
    for (scene, until) in scenes {
        let out = format!("{scene}-whole");
        expect(&scratch.signorini(&arguments(scene, until, &out)), 0, &[]);
        // A longer run, killed on its way.
        let long =
            format!("run {scene} --until 1e4 --out {scene}-cut --csv --quiet --no-report --checkpoint-every 0.02");
        let mut child = scratch.command(&long).spawn().unwrap();
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(400)
            || !scratch.path(&format!("{scene}-cut/checkpoint.json")).exists()
        {
            std::thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let _ = fs::remove_file(scratch.path(&format!("{scene}-cut/run.lock")));
        let end = scratch.signorini(&format!("verify {scene}-cut"));
        expect(&end, 0, &["it was broken off", "can go on from t ="]);
        let time = text(&end).rsplit_once("t = ").unwrap().1.to_owned();
        let further = format!("{}", time.parse::<f64>().unwrap() * 1.01 + 0.01);
        copy(&scratch.path(&format!("{scene}-cut")), &scratch.path("twin"));
        expect(&scratch.signorini(&format!("run --resume twin --until {further} --quiet --no-report")), 0, &[]);
        folders.push((out.clone(), until.to_owned(), results(&scratch.path(&out))));
        folders.push((format!("{scene}-cut"), further, results(&scratch.path("twin"))));
    }
    let n = 2 * rounds(20);
    for round in 0..n {
        let (name, until, wanted) = &folders[round % folders.len()];
        let hurt = scratch.path("hurt");
        copy(&scratch.path(name), &hurt);
        let mut files: Vec<PathBuf> = fs::read_dir(&hurt).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let file = &files[dice.throw(files.len())];
        let what = format!("{name}: {}: {}", file.file_name().unwrap().to_string_lossy(), damage(&mut dice, file));
        let verdict = scratch.signorini("verify hurt");
        let is_noticed = verdict.status.code() == Some(1);
        found += usize::from(is_noticed);
        assert!([0, 1].contains(&verdict.status.code().unwrap_or(-1)), "{what}: {}", text(&verdict));
        let again = scratch.signorini(&format!("run --resume hurt --until {until} --quiet --no-report"));
        match again.status.code() {
            // Texts and pictures are made anew, and what came after the checkpoint is computed anew.
            Some(0) => assert_same(&what, wanted, &results(&hurt)),
            Some(2 | 3) => {
                assert!(text(&again).len() > 20, "{what}: refused without a word");
                refused += 1;
            }
            other => panic!("{what}: {other:?} {}", text(&again)),
        }
        if name.ends_with("whole") {
            assert!(is_noticed, "{what}: not noticed: {}", text(&verdict));
        }
    }
    assert!(3 * found > n && 3 * refused > n, "{found} found and {refused} refused of {n}");
}

/// A run that takes long, once something of it is in the files.
fn start_long(scratch: &Scratch, out: &str) -> std::process::Child {
    let child = scratch.command(&format!("run double-pendulum --until 1e9 --out {out}")).spawn().unwrap();
    let began = Instant::now();
    while !scratch.path(out).join("checkpoint.json").exists() {
        assert!(began.elapsed() < Duration::from_secs(60), "nothing was written");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

#[test]
fn one_writer_at_a_time() {
    let scratch = Scratch::new();
    let mut child = start_long(&scratch, "long");
    let busy = format!("long is being written by process {}", child.id());
    for command in [
        "run --resume long --until 1",
        "run double-pendulum --out long --until 1 --force",
        "run four-bar --out long --until 1",
    ] {
        expect(&scratch.signorini(command), 2, &[&busy]);
    }
    expect(&scratch.signorini("verify long"), 0, &[&format!("process {} is writing it", child.id())]);
    child.kill().unwrap();
    child.wait().unwrap();
    // What a kill leaves of the lock means nothing.
    assert!(scratch.path("long/run.lock").exists());
    expect(&scratch.signorini("verify long"), 0, &["it was broken off", "can go on from t ="]);
    expect(&scratch.signorini("run double-pendulum --out long --until 1 --force"), 0, &["completed"]);
    assert!(!scratch.path("long/run.lock").exists());
}

/// As in `signorini … | true`: ended without a word, by the code that shells give to a broken pipe, with whole files.
#[test]
fn readers_that_go_away() {
    let scratch = Scratch::new();
    for command in [
        "scenes",
        "check four-bar",
        "run pendulum --until 0.1",
        "verify out/pendulum",
        "bench --links 10 --seconds 0.001",
    ] {
        let script = format!("set -o pipefail; {SIGNORINI} {command} | true");
        // The reader may be gone before the first line or after the last.
        let output = Command::new("bash").args(["-c", &script]).current_dir(&scratch.0).output().unwrap();
        let code = output.status.code().unwrap();
        assert!(code == 141 || code == 0, "{command}: {code}");
        assert!(output.stderr.is_empty(), "{command}: {}", text(&output));
    }
    let quits = format!("{SIGNORINI} run pendulum --until 0.1 --out heard >&-; echo $?");
    let output = Command::new("sh").args(["-c", &quits]).current_dir(&scratch.0).output().unwrap();
    assert!(!text(&output).contains("panic"), "{}", text(&output));
    expect(&scratch.signorini("verify out/pendulum"), 0, &["it was brought to its end"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_output() {
    let scratch = Scratch::new();
    for (command, code) in [("scenes", 3), ("run pendulum --until 0.1", 3)] {
        let script = format!("{SIGNORINI} {command} > /dev/full");
        let output = Command::new("sh").args(["-c", &script]).current_dir(&scratch.0).output().unwrap();
        expect(&output, code, &["cannot write to the standard output"]);
    }
    expect(&scratch.signorini("verify out/pendulum"), 0, &["it was brought to its end"]);
}

/// Signals that ask for an end are followed in order. A limit on the size of files ends the process as a kill does, and nothing that was
/// flushed is lost.
#[test]
fn signals() {
    let scratch = Scratch::new();
    for signal in ["INT", "TERM", "HUP"] {
        let mut child = start_long(&scratch, signal);
        assert!(
            Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap().success()
        );
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}");
        expect(
            &scratch.signorini(&format!("verify {signal}")),
            0,
            &["it was brought to its end", "can go on from t ="],
        );
    }
    let script =
        format!("ulimit -f 600; exec {SIGNORINI} run box-stack --until 10 --out small --checkpoint-every 0.02");
    let output = Command::new("sh").args(["-c", &script]).current_dir(&scratch.0).output().unwrap();
    assert_ne!(output.status.code(), Some(0), "{}", text(&output));
    expect(&scratch.signorini("verify small"), 0, &["can go on from t ="]);
    let time: f64 = text(&scratch.signorini("verify small")).rsplit_once("t = ").unwrap().1.parse().unwrap();
    let until = time + 0.05;
    expect(&scratch.signorini(&format!("run --resume small --until {until} --quiet")), 0, &[]);
    expect(&scratch.signorini(&format!("run box-stack --until {until} --out large --quiet")), 0, &[]);
    assert_same("after a limit", &results(&scratch.path("large")), &results(&scratch.path("small")));
}

/// A folder that cannot be written, and one that vanishes.
#[test]
fn folders_that_fail() {
    let scratch = Scratch::new();
    expect(&scratch.signorini("run --resume nowhere"), 2, &["holds no run that can be continued"]);
    expect(&scratch.signorini("verify nowhere"), 2, &["holds no run"]);
    let mut child = start_long(&scratch, "gone");
    fs::rename(scratch.path("gone"), scratch.path("elsewhere")).unwrap();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(3));
    expect(&scratch.signorini("verify elsewhere"), 0, &["it was broken off", "can go on"]);
}
