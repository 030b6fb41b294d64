//! The command as the user meets it: files, messages, exit codes.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use signorini::record::{Recording, Table};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Four balls that fall without end, in steps that neither the interval nor the end is a multiple of.
const SCENE: &str = r#"title = "Balls that fall"
gravity = [0.0, 0.0, -9.81]

[time]
end = 0.5
step = 0.003
integrator = "rk4"

[output]
interval = 0.05

[[body]]
name = "ball"
mass = 2.0
inertia = [0.1, 0.1, 0.1]
position = [0.0, 0.0, 10.0]
velocity = [1.0, 0.5, 0.0]
"#;

const SIGNORINI: &str = env!("CARGO_BIN_EXE_signorini");

struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = format!("signorini-cli-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("fall.toml"), SCENE).unwrap();
        Self(path)
    }

    fn signorini(&self, arguments: &[&str]) -> Output {
        Command::new(SIGNORINI).args(arguments).current_dir(&self.0).output().unwrap()
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

#[track_caller]
fn expect(output: &Output, code: i32, messages: &[&str]) {
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{text}");
    // Messages are wrapped to the width of the terminal.
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for message in messages {
        assert!(flat.contains(message), "no `{message}` in:\n{text}");
    }
}

fn tables(folder: &Path) -> Vec<Vec<u8>> {
    ["trajectory.parquet", "steps.parquet"].iter().map(|name| fs::read(folder.join(name)).unwrap()).collect()
}

#[test]
fn a_run_writes_its_folder() {
    let scratch = Scratch::new();
    expect(&scratch.signorini(&["run", "fall.toml", "--csv"]), 0, &["fall: completed at t = 0.5", "out/fall"]);
    let folder = scratch.path("out/fall");
    for name in ["summary.json", "trajectory.parquet", "trajectory.csv", "steps.parquet", "steps.csv", "plot.svg"] {
        assert!(folder.join(name).is_file(), "no {name}");
    }
    assert_eq!(fs::read_to_string(folder.join("scene.toml")).unwrap(), SCENE);
    assert!(!Table::Steps.stream(&folder).exists());
    let times = Recording::open(&folder).unwrap().column(Table::Trajectory, "t").unwrap();
    assert_eq!(times.len(), 11);
    let quiet = scratch.signorini(&["run", "fall.toml", "--quiet", "--no-plot", "--out", "quiet"]);
    expect(&quiet, 0, &[]);
    assert!(quiet.stdout.is_empty() && quiet.stderr.is_empty());
    assert!(!scratch.path("quiet/plot.svg").exists() && !scratch.path("quiet/steps.csv").exists());
    assert_eq!(tables(&folder), tables(&scratch.path("quiet")));
}

#[test]
fn a_folder_that_holds_a_run_is_refused() {
    let scratch = Scratch::new();
    expect(&scratch.signorini(&["run", "fall.toml", "--out", "here"]), 0, &[]);
    expect(&scratch.signorini(&["run", "fall.toml", "--out", "here"]), 2, &["here already holds a run", "--force"]);
    let mine = scratch.path("here/notes.txt");
    fs::write(&mine, "mine").unwrap();
    let again = scratch.signorini(&["run", "fall.toml", "--out", "here", "--until", "0.1", "--force"]);
    expect(&again, 0, &["t = 0.1"]);
    assert!(mine.exists());
}

#[test]
fn bad_input_is_named_with_its_place() {
    let scratch = Scratch::new();
    fs::write(scratch.path("bad.toml"), SCENE.replace("mass =", "masss =")).unwrap();
    for command in ["run", "check"] {
        let output = scratch.signorini(&[command, "bad.toml"]);
        expect(&output, 2, &["bad.toml:14:1", "body[0].masss", "found `masss`", "allowed:", "did you mean `mass`?"]);
    }
    expect(&scratch.signorini(&["run", "nowhere"]), 2, &["`nowhere` is no file, no folder and no bundled scene"]);
    expect(&scratch.signorini(&["run", "."]), 2, &["a folder without scene.toml"]);
    expect(&scratch.signorini(&["run"]), 2, &["SCENE"]);
    expect(&scratch.signorini(&["run", "fall.toml", "--step", "-1"]), 2, &["greater than zero"]);
    expect(&scratch.signorini(&["run", "fall.toml", "--rtol", "1e-9"]), 2, &["time.rtol", "adaptive"]);
    fs::write(scratch.path("column.toml"), SCENE.replace("interval = 0.05", "bodies = [\"bal\"]")).unwrap();
    expect(&scratch.signorini(&["run", "column.toml"]), 2, &["output.bodies", "did you mean `ball`?"]);
    assert!(!scratch.path("out").exists(), "nothing is written for input that is refused");
}

#[test]
fn input_and_output_that_fail() {
    let scratch = Scratch::new();
    fs::write(scratch.path("taken"), "a file").unwrap();
    expect(&scratch.signorini(&["run", "fall.toml", "--out", "taken/run"]), 3, &["cannot", "taken/run"]);
    expect(&scratch.signorini(&["run", "--resume", "taken"]), 2, &["holds no run that can be continued"]);
}

#[test]
fn a_scene_by_its_folder() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("tower")).unwrap();
    fs::write(scratch.path("tower/scene.toml"), SCENE).unwrap();
    expect(&scratch.signorini(&["check", "tower"]), 0, &["tower: Balls that fall", "bodies 1"]);
    expect(&scratch.signorini(&["run", "tower"]), 0, &["tower: completed"]);
    // Into the scene's own folder: the scene stays what it is.
    expect(&scratch.signorini(&["run", "tower", "--out", "tower"]), 0, &[]);
    assert_eq!(fs::read_to_string(scratch.path("tower/scene.toml")).unwrap(), SCENE);
    expect(&scratch.signorini(&["scenes"]), 0, &[]);
}

/// Starts a run that takes long, and waits until some of it is in the files.
#[cfg(unix)]
fn start_long(scratch: &Scratch, out: &str) -> std::process::Child {
    let arguments = ["run", "fall.toml", "--step", "1e-6", "--until", "1e4", "--out", out];
    let child = Command::new(SIGNORINI).args(arguments).current_dir(&scratch.0).spawn().unwrap();
    let stream = Table::Steps.stream(&scratch.path(out));
    let began = Instant::now();
    while fs::metadata(&stream).map_or(0, |file| file.len()) < 1_000_000 {
        assert!(began.elapsed() < Duration::from_secs(60), "nothing was written");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_ends_in_order() {
    let scratch = Scratch::new();
    let mut child = start_long(&scratch, "long");
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let recording = Recording::open(&scratch.path("long")).unwrap();
    assert!(!Table::Steps.stream(&scratch.path("long")).exists());
    let summary = recording.summary().unwrap().unwrap();
    assert_eq!(serde_json::to_value(summary.status).unwrap(), "stopped");
    assert!(summary.findings.iter().any(|finding| finding.contains("interrupted at t =")));
    assert_eq!(recording.column(Table::Steps, "t").unwrap().len() as u64, summary.steps);
}

/// Killed without warning: readable, and continued to the bits of a run that was never interrupted.
#[cfg(unix)]
#[test]
fn a_killed_run_is_readable_and_goes_on() {
    let scratch = Scratch::new();
    let mut child = start_long(&scratch, "killed");
    child.kill().unwrap();
    child.wait().unwrap();
    let folder = scratch.path("killed");
    assert!(Table::Steps.stream(&folder).exists());
    let times = Recording::open(&folder).unwrap().column(Table::Steps, "t").unwrap();
    assert!(times.len() > 1000 && times.windows(2).all(|pair| pair[0] < pair[1]));
    let until = "0.1";
    expect(&scratch.signorini(&["run", "--resume", "killed", "--until", until]), 0, &["fall: completed at t = 0.1"]);
    let whole = ["run", "fall.toml", "--step", "1e-6", "--until", until, "--out", "whole"];
    expect(&scratch.signorini(&whole), 0, &[]);
    assert!(tables(&folder) == tables(&scratch.path("whole")));
    let edited = SCENE.replace("10.0", "11.0");
    fs::write(folder.join("scene.toml"), edited).unwrap();
    expect(&scratch.signorini(&["run", "--resume", "killed"]), 2, &["the scene's text was changed"]);
}

/// A limit on the size of files stands in for a disk that fills up.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_keeps_what_was_written() {
    let scratch = Scratch::new();
    let script =
        format!("trap '' XFSZ; ulimit -f 2000; exec {SIGNORINI} run fall.toml --step 1e-5 --until 1 --out full");
    let output = Command::new("sh").args(["-c", &script]).current_dir(&scratch.0).output().unwrap();
    expect(&output, 3, &["cannot append to full/steps.arrows", "is kept", "--resume full"]);
    let times = Recording::open(&scratch.path("full")).unwrap().column(Table::Steps, "t").unwrap();
    assert!(times.len() > 1000, "{}", times.len());
    expect(&scratch.signorini(&["run", "--resume", "full"]), 0, &["t = 1,"]);
    let whole = ["run", "fall.toml", "--step", "1e-5", "--until", "1", "--out", "whole"];
    expect(&scratch.signorini(&whole), 0, &[]);
    assert!(tables(&scratch.path("full")) == tables(&scratch.path("whole")));
}
