//! Contact as the user of the command meets it: tables, policies, saved problems, going on, overlap.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use signorini::record::{Recording, Table};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU64, Ordering};

const SIGNORINI: &str = env!("CARGO_BIN_EXE_signorini");

/// A ball and a spinning box that are thrown onto a floor, bounce and slide.
const THROWN: &str = r#"title = "Thrown onto the floor"
gravity = [0, 0, -9.81]

[time]
end = 0.8
step = 0.002

[[material]]
name = "rubber"
density = 1000
friction = 0.4
restitution = 0.6

[[body]]
name = "ground"
shape = [{ kind = "half-space", material = "rubber" }]

[[body]]
name = "ball"
position = [0, -1, 0.3]
velocity = [1, 0, -1]
shape = [{ kind = "sphere", radius = 0.1, material = "rubber" }]

[[body]]
name = "box"
position = [0.5, 0, 0.3]
velocity = [-0.5, 0.2, 0]
angular_velocity = [3, 1, 0]
shape = [{ kind = "box", size = [0.2, 0.3, 0.1], material = "rubber" }]
"#;

/// A heavy box on light ones: a sweep at a time the weight hardly gets down.
const HEAVY: &str = r#"gravity = [0, 0, -10]

[time]
end = 0.05
step = 0.01

[[material]]
name = "stone"
friction = 0.5

[[body]]
name = "ground"
shape = [{ kind = "half-space", material = "stone" }]

[[body]]
name = "low"
mass = 1
position = [0, 0, 0.5]
shape = [{ kind = "box", size = [1, 1, 1], material = "stone" }]

[[body]]
name = "middle"
mass = 1
position = [0, 0, 1.5]
shape = [{ kind = "box", size = [1, 1, 1], material = "stone" }]

[[body]]
name = "high"
mass = 1e6
position = [0.1, 0, 2.5]
shape = [{ kind = "box", size = [1, 1, 1], material = "stone" }]
"#;

struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = format!("signorini-contact-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("thrown.toml"), THROWN).unwrap();
        fs::write(path.join("heavy.toml"), HEAVY).unwrap();
        Self(path)
    }

    fn signorini(&self, arguments: &str) -> Output {
        Command::new(SIGNORINI).args(arguments.split_whitespace()).current_dir(&self.0).output().unwrap()
    }

    fn open(&self, name: &str) -> Recording {
        Recording::open(&self.path(name)).unwrap()
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
    let flat = text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
    for message in messages {
        assert!(flat.contains(message), "no `{message}` in:\n{text}");
    }
}

fn tables(folder: &Path) -> Vec<Vec<u8>> {
    let names = ["trajectory.parquet", "steps.parquet", "contacts.parquet"];
    names.iter().map(|name| fs::read(folder.join(name)).unwrap()).collect()
}

fn columns<const N: usize>(recording: &Recording, table: Table, names: [&str; N]) -> [Vec<f64>; N] {
    names.map(|name| recording.column(table, name).unwrap())
}

/// The table of contacts against the momentum of free bodies: m (v⁺ − v) = m g h + impulses, step by step.
#[test]
fn impulses_are_changes_of_momentum() {
    let scratch = Scratch::new();
    expect(&scratch.signorini("run thrown.toml --csv"), 0, &["completed", "contacts", "penetration"]);
    let recording = scratch.open("out/thrown");
    let header = fs::read_to_string(scratch.path("out/thrown/contacts.csv")).unwrap();
    assert!(header.starts_with(
        "t,id,body_a,body_b,px,py,pz,nx,ny,nz,t1x,t1y,t1z,gap,pn,pt1,pt2,spin,un,ut1,ut2,mode,mt1,mt2,wn\n"
    ));
    let [t] = columns(&recording, Table::Contacts, ["t"]);
    let n = columns(&recording, Table::Contacts, ["nx", "ny", "nz"]);
    let t1 = columns(&recording, Table::Contacts, ["t1x", "t1y", "t1z"]);
    let p = columns(&recording, Table::Contacts, ["pn", "pt1", "pt2"]);
    let [a, b] = ["body_a", "body_b"].map(|name| recording.words(Table::Contacts, name).unwrap());
    let modes = recording.words(Table::Contacts, "mode").unwrap();
    assert!(t.len() > 100, "{}", t.len());
    for mode in ["open", "slip"] {
        assert!(modes.iter().any(|word| word == mode), "no contact is {mode}");
    }
    let [times] = columns(&recording, Table::Trajectory, ["t"]);
    let density = 1000.0;
    for (body, mass) in [("ball", density * 4.0 / 3.0 * std::f64::consts::PI * 1e-3), ("box", density * 6e-3)] {
        let names = [format!("{body}.vx"), format!("{body}.vy"), format!("{body}.vz")];
        let v = columns(&recording, Table::Trajectory, [&names[0], &names[1], &names[2]]);
        let mut row = 0;
        let mut total = 0.0;
        for k in 1..times.len() {
            let mut impulse = [0.0; 3];
            while row < t.len() && t[row] <= times[k] {
                assert_eq!(t[row], times[k], "every step is a row of the trajectory");
                let sign = if b[row] == body { 1.0 } else { -f64::from(a[row] == body) };
                for i in 0..3 {
                    let (j, l) = ((i + 1) % 3, (i + 2) % 3);
                    let t2 = n[j][row] * t1[l][row] - n[l][row] * t1[j][row];
                    impulse[i] += sign * (p[0][row] * n[i][row] + p[1][row] * t1[i][row] + p[2][row] * t2);
                }
                row += 1;
            }
            let h = times[k] - times[k - 1];
            for i in 0..3 {
                let gravity = if i == 2 { -9.81 * h } else { 0.0 };
                let change = mass * (v[i][k] - v[i][k - 1] - gravity);
                // Rounding of speeds of about 3 and of their differences.
                assert!(
                    (change - impulse[i]).abs() <= 1e-12 * mass,
                    "{body}, t = {}: {change} {}",
                    times[k],
                    impulse[i]
                );
            }
            total += impulse[2];
        }
        assert_eq!(row, t.len());
        assert!(total > 0.1 * mass, "{body} was hardly touched: {total}");
    }
    let [counts, sums] = columns(&recording, Table::Steps, ["contacts", "impulse"]);
    let summary = recording.summary().unwrap().unwrap();
    assert_eq!(counts.iter().sum::<f64>() as usize, t.len());
    assert!((sums.iter().sum::<f64>() - p[0].iter().sum::<f64>()).abs() <= 1e-12 * sums.iter().sum::<f64>());
    assert_eq!(summary.contacts.max as f64, counts.iter().copied().fold(0.0, f64::max));
    assert_eq!(summary.solver.as_deref(), Some("auto"));
    assert!(summary.residual.rel > 0.0 && summary.residual.rel <= 1e-12, "{:?}", summary.residual);
}

#[test]
fn contacts_are_recorded_where_wanted() {
    let scratch = Scratch::new();
    fs::write(scratch.path("never.toml"), THROWN.replace("[[material]]", "[output]\ncontacts = false\n[[material]]"))
        .unwrap();
    expect(&scratch.signorini("run never.toml"), 0, &[]);
    assert!(!scratch.path("out/never/contacts.parquet").exists());
    // Rows of the trajectory are those of the table.
    fs::write(scratch.path("some.toml"), THROWN.replace("[[material]]", "[output]\nevery = 7\n[[material]]")).unwrap();
    expect(&scratch.signorini("run some.toml"), 0, &[]);
    let recording = scratch.open("out/some");
    let [times] = columns(&recording, Table::Trajectory, ["t"]);
    let [touched] = columns(&recording, Table::Contacts, ["t"]);
    assert!(!touched.is_empty() && touched.iter().all(|t| times.contains(t)));
}

#[test]
fn a_run_goes_on_with_its_contacts() {
    let scratch = Scratch::new();
    for (name, output) in [("each", ""), ("few", "[output]\nevery = 7\n"), ("timed", "[output]\ninterval = 0.03\n")] {
        let scene = THROWN.replace("[[material]]", &format!("{output}[[material]]"));
        fs::write(scratch.path("scene.toml"), scene).unwrap();
        expect(&scratch.signorini(&format!("run scene.toml --out {name}-whole --no-plot")), 0, &[]);
        expect(&scratch.signorini(&format!("run scene.toml --out {name}-cut --until 0.3 --no-plot")), 0, &[]);
        for until in ["0.42", "0.8"] {
            expect(&scratch.signorini(&format!("run --resume {name}-cut --until {until} --no-plot")), 0, &[]);
        }
        let cut = tables(&scratch.path(&format!("{name}-cut")));
        assert!(cut == tables(&scratch.path(&format!("{name}-whole"))), "{name}");
    }
}

/// Killed without warning in the middle of contact.
#[cfg(unix)]
#[test]
fn a_killed_run_goes_on_with_its_contacts() {
    let scratch = Scratch::new();
    let arguments = ["run", "thrown.toml", "--step", "1e-5", "--until", "1e3", "--out", "killed"];
    let mut child = Command::new(SIGNORINI).args(arguments).current_dir(&scratch.0).spawn().unwrap();
    let stream = Table::Contacts.stream(&scratch.path("killed"));
    let began = std::time::Instant::now();
    while fs::metadata(&stream).map_or(0, |file| file.len()) < 1_000_000 {
        assert!(began.elapsed() < std::time::Duration::from_secs(120), "nothing was written");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let times = scratch.open("killed").column(Table::Contacts, "t").unwrap();
    assert!(times.len() > 1000 && times.windows(2).all(|pair| pair[0] <= pair[1]));
    expect(&scratch.signorini("run --resume killed --until 0.4 --no-plot"), 0, &["t = 0.4"]);
    expect(&scratch.signorini("run thrown.toml --step 1e-5 --until 0.4 --out whole --no-plot"), 0, &[]);
    assert!(tables(&scratch.path("killed")) == tables(&scratch.path("whole")));
}

#[test]
fn policies() {
    let scratch = Scratch::new();
    // The default solver solves it.
    expect(&scratch.signorini("run heavy.toml --out good"), 0, &["completed"]);
    let run = "run heavy.toml --solver gauss-seidel --no-plot --out";
    let stopped = scratch.signorini(&format!("{run} stop"));
    expect(&stopped, 1, &["stopped: at t = 0: the contact problem was not solved", "--resume stop --save-problem"]);
    let recording = scratch.open("stop");
    let summary = recording.summary().unwrap().unwrap();
    assert_eq!(serde_json::to_value(summary.status).unwrap(), "stopped");
    assert!(summary.findings.iter().any(|finding| finding.contains("was not solved")), "{:?}", summary.findings);
    assert_eq!((summary.sim_seconds, summary.steps), (0.0, 0));
    assert_eq!(recording.column(Table::Trajectory, "t").unwrap(), [0.0]);

    let warned = scratch.signorini(&format!("{run} warn --policy warn"));
    expect(
        &warned,
        0,
        &["warning: step to t = 0.01: the contact problem was not solved", "5 of 5 steps were not solved"],
    );
    let status = scratch.open("warn").words(Table::Steps, "status").unwrap();
    assert_eq!(status, ["unsolved"; 5]);
    let accepted = scratch.signorini(&format!("{run} accept --policy accept"));
    expect(&accepted, 0, &["5 of 5 steps were not solved"]);
    assert!(accepted.stderr.is_empty());
    // A run that was stopped goes on under another policy, to the result of one that had it from the start.
    expect(&scratch.signorini("run --resume stop --no-plot"), 1, &["was not solved"]);
    expect(&scratch.signorini("run --resume stop --policy warn --no-plot"), 0, &["5 of 5 steps"]);
    for other in ["warn", "accept"] {
        assert!(tables(&scratch.path("stop")) == tables(&scratch.path(other)));
    }
}

#[test]
fn a_saved_problem_is_solved_alone() {
    let scratch = Scratch::new();
    let run = "run heavy.toml --solver gauss-seidel --no-plot";
    expect(&scratch.signorini(&format!("{run} --save-problem")), 1, &["solve out/heavy/problems/contact-000001.npz"]);
    expect(&scratch.signorini("solve out/heavy/problems/contact-000001.npz --tol 1e-12"), 0, &["solved"]);
    let same = "solve out/heavy/problems/contact-000001.npz --tol 1e-12 --solver gauss-seidel";
    expect(&scratch.signorini(same), 1, &[]);
    // Later, and elsewhere; under another policy one for each step.
    expect(&scratch.signorini("run --resume out/heavy --save-problem saved"), 1, &["solve saved/contact-000001.npz"]);
    let all = format!("{run} --policy accept --save-problem all --out all-run");
    expect(&scratch.signorini(&all), 0, &[]);
    assert_eq!(fs::read_dir(scratch.path("all")).unwrap().count(), 5);
}

#[test]
fn what_cannot_be_is_refused() {
    let scratch = Scratch::new();
    let refused = |arguments: &str, messages: &[&str]| expect(&scratch.signorini(arguments), 2, messages);
    refused("run thrown.toml --solver lemke", &["solver.method", "without friction only", "material `rubber`"]);
    refused("run thrown.toml --solver enumerate", &["solver.method", "friction of contacts", "material `rubber`"]);
    for method in ["lemke", "enumerate"] {
        let text = THROWN.replace("[[material]]", &format!("[solver]\nmethod = \"{method}\"\n\n[[material]]"));
        fs::write(scratch.path("method.toml"), &text).unwrap();
        refused("check method.toml", &["solver.method", "method.toml:9:", "allowed: `auto`, `gauss-seidel`"]);
        // Without friction there is nothing that they could not treat.
        fs::write(scratch.path("smooth.toml"), text.replace("friction = 0.4", "friction = 0")).unwrap();
        expect(&scratch.signorini("check smooth.toml"), 0, &[]);
    }
    refused("run thrown.toml --tolerance 1", &["solver.tolerance", "at most 0.01"]);
    refused("run thrown.toml --policy ignore", &["stop", "warn", "accept"]);
    for method in ["adaptive", "rk4", "euler"] {
        let message = format!("integrator `{method}` does not step contact");
        // The scene does not give the key, so the place is that of its table.
        let place = ["time.integrator", "thrown.toml:4:"];
        refused(
            &format!("run thrown.toml --integrator {method}"),
            &[&message, "may touch", "[[contact]]", place[0], place[1]],
        );
    }
    let adaptive = THROWN.replace("step = 0.002", "step = 0.002\nintegrator = \"adaptive\"");
    fs::write(scratch.path("adaptive.toml"), adaptive).unwrap();
    refused("check adaptive.toml", &["time.integrator", "does not step contact", "adaptive.toml:7:"]);
    fs::write(scratch.path("step.toml"), THROWN.replace("step = 0.002", "")).unwrap();
    refused("check step.toml", &["time.step", "need `step`", "may touch", "step.toml:4:"]);
    assert!(!scratch.path("out").exists());
    let off = THROWN.replace("[[material]]", "[[contact]]\nbodies = [\"*\", \"*\"]\nenabled = false\n[[material]]");
    fs::write(scratch.path("off.toml"), off).unwrap();
    expect(&scratch.signorini("run off.toml --integrator rk4"), 0, &["completed"]);
    assert_eq!(scratch.open("out/off").summary().unwrap().unwrap().solver, None);
}

#[test]
fn every_method_and_law_runs() {
    let scratch = Scratch::new();
    for (k, options) in [
        "--integrator moreau",
        "--integrator stewart-trinkle --solver newton",
        "--restitution poisson",
        "--restitution energetic --tolerance 1e-10",
        "--policy accept --solver admm",
    ]
    .iter()
    .enumerate()
    {
        expect(&scratch.signorini(&format!("run thrown.toml {options} --out run{k} --no-plot")), 0, &["completed"]);
    }
}

#[test]
fn check_tells_of_contact_and_overlap() {
    let scratch = Scratch::new();
    expect(
        &scratch.signorini("check thrown.toml"),
        0,
        &["stepped by `stewart-trinkle` with a step of 0.002; 3 shapes"],
    );
    let sunk = THROWN.replace("[0, -1, 0.3]", "[0, -1, 0.0988]");
    fs::write(scratch.path("sunk.toml"), sunk).unwrap();
    let message = "overlap ground and ball by 1.20e-3: it will be removed without adding kinetic energy";
    expect(&scratch.signorini("check sunk.toml"), 0, &[message]);
    expect(&scratch.signorini("check pendulum"), 0, &["contact none: nothing can push"]);
}

/// A door that a spring presses against its stop, and a slider that friction holds: forces that can be read.
#[test]
fn forces_of_limits_and_friction() {
    let scratch = Scratch::new();
    let scene = r#"[time]
end = 0.1
step = 0.01

[output]
actuators = ["*"]
reactions = ["*"]

[[body]]
name = "door"
mass = 1
inertia = [1, 1, 1]

[[body]]
name = "slider"
mass = 2
inertia = [1, 1, 1]

[[joint]]
name = "hinge"
kind = "revolute"
parent = "ground"
child = "door"
lower = 0
spring = { stiffness = 2, rest = [-1.5] }

[[joint]]
name = "rail"
kind = "prismatic"
parent = "ground"
child = "slider"
friction = 5
motor = [{ kind = "torque", value = 3 }]
"#;
    fs::write(scratch.path("door.toml"), scene).unwrap();
    expect(&scratch.signorini("check door.toml"), 0, &["1 joint with limits; 1 joint with dry friction"]);
    expect(&scratch.signorini("run door.toml"), 0, &["completed"]);
    let recording = scratch.open("out/door");
    let names = ["hinge.limit0", "rail.friction0", "rail.u0", "hinge.q0", "rail.q0"];
    let [limit, friction, motor, angle, way] = columns(&recording, Table::Trajectory, names);
    assert!(limit[0].is_nan() && friction[0].is_nan(), "no step ends at the start");
    for k in 1..limit.len() {
        assert!((limit[k] - 3.0).abs() < 1e-11 && (friction[k] + 3.0).abs() < 1e-11, "{} {}", limit[k], friction[k]);
        assert!(angle[k].abs() < 1e-12 && way[k].abs() < 1e-12 && motor[k] == 3.0);
    }
    assert!(!recording.fields(Table::Trajectory).iter().any(|field| field.name == "rail.limit0"));
    // They are forces of steps, and no state has them: a run that goes on keeps them from its first step on.
    expect(&scratch.signorini("run door.toml --out cut --until 0.04"), 0, &[]);
    expect(&scratch.signorini("run --resume cut --until 0.1"), 0, &[]);
    assert!(
        fs::read(scratch.path("cut/trajectory.parquet")).unwrap()
            == fs::read(scratch.path("out/door/trajectory.parquet")).unwrap()
    );
}
