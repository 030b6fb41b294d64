//! Runs every bundled scene with the binary and compares it with `expected.toml`, whose format `scenes/README.md` describes.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    check: Vec<Check>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Check {
    Values(Values),
    Summary(Bound),
    Event(Happening),
    Balance(Balance),
}

/// Columns of the trajectory at one time.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Values {
    t: f64,
    tolerance: f64,
    reason: String,
    source: String,
    values: BTreeMap<String, f64>,
}

/// An upper bound on an entry of the summary.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bound {
    summary: String,
    max: f64,
    reason: String,
}

/// Entries of the line that an event leaves in `events.jsonl`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Happening {
    event: String,
    /// Which of its lines, counted from 0.
    #[serde(default)]
    occurrence: usize,
    tolerance: f64,
    reason: String,
    source: String,
    values: BTreeMap<String, f64>,
}

/// Entries that are equal in every line of `events.jsonl` that an event leaves, and how many lines there are.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Balance {
    event: String,
    count: usize,
    #[serde(default)]
    equal: Vec<[String; 2]>,
    /// Relative to the larger of both.
    #[serde(default)]
    tolerance: f64,
    reason: String,
}

/// The rows of `trajectory.csv`.
struct Table {
    columns: HashMap<String, usize>,
    rows: Vec<Vec<f64>>,
}

impl Table {
    fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let mut lines = text.lines();
        let header = lines.next().expect("an empty trajectory");
        let columns = header.split(',').enumerate().map(|(k, name)| (name.trim_matches('"').to_owned(), k)).collect();
        let rows = lines.map(|line| line.split(',').map(|cell| cell.parse().unwrap_or(f64::NAN)).collect()).collect();
        Self { columns, rows }
    }

    fn value(&self, row: &[f64], column: &str) -> Result<f64, String> {
        let k = self.columns.get(column).ok_or_else(|| format!("no column {column}"))?;
        Ok(row[*k])
    }

    /// The last row at a time: after the event, where there is one. Recorded times are multiples of an interval, so they
    /// carry a few roundings.
    fn row(&self, t: f64) -> Result<&[f64], String> {
        let k = self.columns["t"];
        let near = |row: &&Vec<f64>| (row[k] - t).abs() <= 1e-12 * t.abs();
        self.rows.iter().rev().find(near).map(Vec::as_slice).ok_or_else(|| format!("no row at t = {t}"))
    }
}

/// Factor on every tolerance; 0 makes the test print all differences.
fn tolerance_scale() -> f64 {
    std::env::var("SIGNORINI_TOLERANCE_SCALE").ok().and_then(|s| s.parse().ok()).unwrap_or(1.0)
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn scene_folders() -> BTreeSet<String> {
    let entries = std::fs::read_dir(repository().join("scenes")).unwrap().map(Result::unwrap);
    entries.filter(|e| e.path().is_dir()).map(|e| e.file_name().into_string().unwrap()).collect()
}

/// Signs that make the quaternions of a check comparable: −1 for bodies whose quaternion came out as its opposite.
fn quaternion_signs(check: &Values, table: &Table, row: &[f64]) -> HashMap<String, f64> {
    let mut signs = HashMap::new();
    for body in check.values.keys().filter_map(|c| c.strip_suffix(".qw")) {
        let product: Result<f64, String> = ["qw", "qx", "qy", "qz"]
            .iter()
            .map(|part| format!("{body}.{part}"))
            .map(|c| Ok(check.values.get(&c).ok_or_else(|| format!("no expected {c}"))? * table.value(row, &c)?))
            .sum();
        signs.insert(body.to_owned(), product.map_or(1.0, f64::signum));
    }
    signs
}

fn check_values(check: &Values, table: &Table, scale: f64, findings: &mut Vec<String>) {
    let row = match table.row(check.t) {
        Ok(row) => row,
        Err(e) => return findings.push(e),
    };
    let signs = quaternion_signs(check, table, row);
    for (column, expected) in &check.values {
        let (owner, part) = column.rsplit_once('.').unwrap_or((column, ""));
        let sign =
            if ["qw", "qx", "qy", "qz"].contains(&part) { signs.get(owner).copied().unwrap_or(1.0) } else { 1.0 };
        match table.value(row, column) {
            Err(e) => findings.push(e),
            Ok(found) => {
                let difference = (sign * found - expected).abs();
                let allowed = check.tolerance * scale;
                if difference > allowed || difference.is_nan() || scale == 0.0 {
                    let (t, tolerance) = (check.t, check.tolerance);
                    findings.push(format!("{column} at t = {t}: {found}, expected {expected}, off by {difference:.1e} (allowed {tolerance:.0e})"));
                }
            }
        }
    }
}

fn check_bound(check: &Bound, summary: &serde_json::Value, scale: f64, findings: &mut Vec<String>) {
    let entry =
        check.summary.split('.').try_fold(summary, |value, key| value.get(key)).and_then(serde_json::Value::as_f64);
    match entry {
        None => findings.push(format!("summary.json has no number {}", check.summary)),
        Some(found) if found <= check.max * scale => {}
        Some(found) => findings.push(format!("{}: {found:.1e} (allowed {:.0e})", check.summary, check.max)),
    }
}

/// An entry of a line of `events.jsonl`, addressed by a dotted path of keys and places in lists.
fn entry<'a>(line: &'a serde_json::Value, path: &str) -> Option<&'a serde_json::Value> {
    path.split('.').try_fold(line, |value, key| match value {
        serde_json::Value::Array(list) => list.get(key.parse::<usize>().ok()?),
        _ => value.get(key),
    })
}

/// The numbers of an entry: one, or those of a list.
fn numbers(line: &serde_json::Value, path: &str) -> Vec<f64> {
    match entry(line, path) {
        Some(serde_json::Value::Array(list)) => list.iter().filter_map(serde_json::Value::as_f64).collect(),
        Some(value) => value.as_f64().into_iter().collect(),
        None => Vec::new(),
    }
}

fn check_event(check: &Happening, lines: &[serde_json::Value], scale: f64, findings: &mut Vec<String>) {
    let name = &check.event;
    let mut own = lines.iter().filter(|line| line["name"] == name.as_str());
    let Some(line) = own.nth(check.occurrence) else {
        return findings.push(format!("event {name} did not happen {} times", check.occurrence + 1));
    };
    for (path, expected) in &check.values {
        match numbers(line, path)[..] {
            [found] => {
                let (difference, tolerance) = ((found - expected).abs(), check.tolerance);
                if difference > tolerance * scale || difference.is_nan() || scale == 0.0 {
                    findings.push(format!("{path} of event {name}: {found}, expected {expected}, off by {difference:.1e} (allowed {tolerance:.0e})"));
                }
            }
            _ => findings.push(format!("event {name} has no number {path}")),
        }
    }
}

fn check_balance(check: &Balance, lines: &[serde_json::Value], scale: f64, findings: &mut Vec<String>) {
    let name = &check.event;
    let own: Vec<_> = lines.iter().filter(|line| name == "*" || line["name"] == name.as_str()).collect();
    if own.len() != check.count {
        findings.push(format!("event {name} happened {} times, expected {}", own.len(), check.count));
    }
    for line in own {
        for [a, b] in &check.equal {
            let (x, y) = (numbers(line, a), numbers(line, b));
            let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
            let size = norm(&x).max(norm(&y));
            let gap: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x - y).collect();
            let difference = if size > 0.0 { norm(&gap) / size } else { 0.0 };
            let tolerance = check.tolerance;
            let is_off = x.is_empty() || x.len() != y.len() || difference > tolerance * scale || difference.is_nan();
            if is_off || scale == 0.0 {
                findings.push(format!(
                    "event {name}: {a} {x:?} and {b} {y:?}, off by {difference:.1e} (allowed {tolerance:.0e})"
                ));
            }
        }
    }
}

/// Runs one scene and returns what differs from its `expected.toml`.
fn run(name: &str) -> Vec<String> {
    let folder = repository().join("scenes").join(name);
    for file in ["scene.toml", "README.md", "expected.toml"] {
        assert!(folder.join(file).is_file(), "scenes/{name} has no {file}");
    }
    let text = std::fs::read_to_string(folder.join("expected.toml")).unwrap();
    let expected: Expected = toml::from_str(&text).unwrap_or_else(|e| panic!("scenes/{name}/expected.toml: {e}"));
    assert!(!expected.check.is_empty(), "scenes/{name}/expected.toml checks nothing");

    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("scenes").join(name);
    if out.exists() {
        std::fs::remove_dir_all(&out).unwrap();
    }
    let output = Command::new(env!("CARGO_BIN_EXE_signorini"))
        .args(["run", "--csv", "--quiet", "--out"])
        .args([&out, &folder.join("scene.toml")])
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "signorini run {name} ended with {}:\n{complaint}", output.status);

    let table = Table::read(&out.join("trajectory.csv"));
    let summary = serde_json::from_str(&std::fs::read_to_string(out.join("summary.json")).unwrap()).unwrap();
    let lines: Vec<serde_json::Value> = std::fs::read_to_string(out.join("events.jsonl"))
        .map(|text| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
        .unwrap_or_default();
    let is_explained = |reason: &str, source: &str| {
        let source = repository().join(source);
        assert!(!reason.is_empty() && source.is_file(), "scenes/{name}: no reason, or no file {}", source.display());
    };
    let scale = tolerance_scale();
    let mut findings = Vec::new();
    for check in &expected.check {
        match check {
            Check::Values(v) => {
                is_explained(&v.reason, &v.source);
                check_values(v, &table, scale, &mut findings);
            }
            Check::Summary(b) => {
                assert!(!b.reason.is_empty(), "scenes/{name}: no reason for {}", b.summary);
                check_bound(b, &summary, scale, &mut findings);
            }
            Check::Event(e) => {
                is_explained(&e.reason, &e.source);
                check_event(e, &lines, scale, &mut findings);
            }
            Check::Balance(b) => {
                assert!(!b.reason.is_empty(), "scenes/{name}: no reason for {}", b.event);
                check_balance(b, &lines, scale, &mut findings);
            }
        }
    }
    findings
}

/// One test per scene, and the list of them for comparison with the folders.
macro_rules! scenes {
    ($($test:ident $name:literal),+ $(,)?) => {
        const TESTED: &[&str] = &[$($name),+];
        $(
            #[test]
            fn $test() {
                let findings = run($name);
                assert!(findings.is_empty(), "scenes/{}:\n  {}", $name, findings.join("\n  "));
            }
        )+
    };
}

scenes! {
    andrews "andrews",
    anisotropic_slide "anisotropic-slide",
    bouncing_ball "bouncing-ball",
    bouncing_pendulum "bouncing-pendulum",
    box_stack "box-stack",
    breaking_chain "breaking-chain",
    bricard "bricard",
    chain_1000 "chain-1000",
    conveyor "conveyor",
    docking "docking",
    dominoes "dominoes",
    double_pendulum "double-pendulum",
    falling_pendulum "falling-pendulum",
    flyball_governor "flyball-governor",
    four_bar "four-bar",
    four_bar_stop "four-bar-stop",
    gear_train "gear-train",
    heavy_stack "heavy-stack",
    heavy_top "heavy-top",
    incline "incline",
    joint_lock "joint-lock",
    n_four_bar "n-four-bar",
    newtons_cradle "newtons-cradle",
    partial_lock "partial-lock",
    pendulum "pendulum",
    planar_pendulum "planar-pendulum",
    quarter_car "quarter-car",
    ratchet "ratchet",
    ring "ring",
    rocking_block "rocking-block",
    rod_linkage "rod-linkage",
    servo_arm "servo-arm",
    slider_crank "slider-crank",
    sliding_pendulum "sliding-pendulum",
    solar_panels "solar-panels",
    spheres_in_box "spheres-in-box",
    spinning_disc "spinning-disc",
    square_patch "square-patch",
    stewart_platform "stewart-platform",
    stiff_damper "stiff-damper",
    chain_on_floor "chain-on-floor",
    tip_pinned "tip-pinned",
    tippe_top "tippe-top",
    tumbling_box "tumbling-box",
    turntable "turntable",
    walker "walker",
}

#[test]
fn every_scene_folder_is_tested() {
    let tested: BTreeSet<String> = TESTED.iter().map(|s| (*s).to_owned()).collect();
    assert_eq!(scene_folders(), tested);
}
