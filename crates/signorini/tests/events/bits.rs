//! The same bits however a run with events is cut, and the work that an event takes.

use super::common::*;
use super::*;
use signorini::model::event::Action;
use signorini::record::{Checkpoint, Ending, Identity, JointColumns, Layout, Motion, RecordedMotion, Schedule, Wish};
use signorini::scene::Integrator;
use signorini::state::State;
use signorini::step::{StepError, StepReport};
use std::path::{Path, PathBuf};

/// Locks, a loop that closes and opens, a change of kind, a break, a blow, conditions with hysteresis: one of each.
fn eventful() -> Scene {
    let mut scene = chain(5);
    scene.time.end = 1.2;
    let text = r#"
        [[joint]]
        name = "pin"
        kind = "spherical"
        parent = "ground"
        child = "l4"
        child_frame = { position = [0, 0, -0.2] }
        absent = true
        [[event]]
        name = "lock"
        kind = "lock"
        joint = "j2"
        time = 0.15
        [[event]]
        name = "pin"
        kind = "attach"
        joint = "pin"
        time = 0.3
        [[event]]
        name = "blow"
        kind = "impulse"
        body = "l2"
        vector = [0.3, 0.2, 0]
        after = "pin"
        [[event]]
        name = "unlock"
        kind = "unlock"
        joint = "j2"
        after = "blow"
        delay = 0.11
        [[event]]
        name = "open"
        kind = "release"
        joint = "pin"
        time = 0.6
        [[event]]
        name = "loosen"
        kind = "change"
        joint = "j1"
        to = "spherical"
        time = 0.7
        [[event]]
        name = "swing"
        kind = "lock"
        joint = "j4"
        when = { kind = "speed", joint = "j4", above = 0.5, rearm = 0.0 }
        [[event]]
        name = "let-go"
        kind = "unlock"
        joint = "j4"
        after = "swing"
        delay = 0.02
        [[event]]
        name = "weld"
        kind = "weld"
        bodies = ["l0", "l3"]
        time = 1.0
    "#;
    #[derive(serde::Deserialize)]
    struct More {
        joint: Vec<signorini::scene::Joint>,
        event: Vec<signorini::scene::Event>,
    }
    let more: More = toml::from_str(text).unwrap();
    scene.joint.extend(more.joint);
    scene.event = more.event;
    scene
}

#[test]
fn stopped_anywhere() {
    for (integrator, formulation) in [
        (Integrator::Adaptive, Formulation::Recursive),
        (Integrator::Rk4, Formulation::Recursive),
        (Integrator::Adaptive, Formulation::Dense),
        (Integrator::Adaptive, Formulation::Dca),
    ] {
        let mut scene = eventful();
        scene.time.integrator = integrator;
        scene.time.step = (integrator == Integrator::Rk4).then_some(0.01);
        let built = build(&scene).unwrap();
        let start = |state: &State| {
            let options = Options { formulation, ..Options::from_scene(&scene) };
            Simulation::new(built.model.clone(), built.plan.clone(), options, state.clone()).unwrap()
        };
        let mut whole = start(&built.state);
        let mut states = vec![whole.state().clone()];
        let mut reports = Vec::new();
        while whole.state().time < 1.2 {
            whole.advance(1.2).unwrap();
            reports.push(whole.events().to_vec());
            states.push(whole.state().clone());
        }
        let happened: usize = reports.iter().map(Vec::len).sum();
        assert!(happened >= 9, "{happened}");
        let mut seen = Observation::default();
        for (k, wanted) in states.iter().enumerate().skip(1) {
            // Through text, as a checkpoint is kept; and, every other time, looked at in between.
            let text = serde_json::to_string(&states[k - 1]).unwrap();
            let mut fresh = start(&serde_json::from_str(&text).unwrap());
            if k % 2 == 0 {
                fresh.observe(k % 4 == 0, &mut seen).unwrap();
            }
            fresh.advance(1.2).unwrap();
            assert_eq!(fresh.state(), wanted, "{integrator:?} {formulation:?} step {k}");
            assert_eq!(fresh.events(), reports[k - 1]);
        }
    }
}

/// The engine behind the recorder.
struct Recorded(Simulation);

impl Motion for Recorded {
    type Error = StepError;
    fn state(&self) -> &State {
        self.0.state()
    }
    fn advance(&mut self, limit: f64) -> Result<StepReport, StepError> {
        self.0.advance(limit)
    }
    fn is_event_due(&self) -> bool {
        self.0.is_event_due()
    }
    fn events(&self) -> &[EventReport] {
        self.0.events()
    }
    fn observe(&mut self, forces: bool, out: &mut Observation) -> Result<(), StepError> {
        self.0.observe(forces, out)
    }
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("signorini-events-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
    fn files(&self) -> Vec<Vec<u8>> {
        let names = ["trajectory.parquet", "steps.parquet", "events.jsonl"];
        names.iter().map(|name| std::fs::read(self.0.join(name)).unwrap()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Killed and resumed after every few calls of `advance`, right before and right after events among them.
#[test]
fn recordings_of_interrupted_runs() {
    let mut scene = eventful();
    scene.output.interval = Some(0.05);
    let built = build(&scene).unwrap();
    let start = |state: &State| {
        let options = Options::from_scene(&scene);
        Recorded(Simulation::new(built.model.clone(), built.plan.clone(), options, state.clone()).unwrap())
    };
    let identity = || Identity {
        engine: "test".into(),
        scene: "eventful".into(),
        scene_hash: String::new(),
        file_hashes: Default::default(),
        end: 1.2,
        formulation: Formulation::Recursive,
        integrator: Integrator::Adaptive,
        step: None,
        rtol: 1e-9,
        method: scene.solver.method,
        tolerance: 1e-12,
        restitution: scene.solver.restitution,
        policy: scene.solver.policy,
        csv: false,
        changes: Vec::new(),
    };
    let layout = || {
        let model = &built.model;
        let bodies: Vec<String> = model.bodies().iter().map(|b| b.name.clone()).collect();
        let columns = |j: &signorini::model::Joint| JointColumns {
            name: j.name.clone(),
            q: j.q_slot.clone(),
            v: j.v_slot.clone(),
            ..JointColumns::default()
        };
        let joints: Vec<JointColumns> = model.joints().iter().map(columns).collect();
        Layout::build(&bodies, &joints, &[], &scene.output).unwrap()
    };
    let schedule = Schedule::new(1.2, &scene.output).unwrap();
    let create =
        |folder: &Path| RecordedMotion::create(folder, layout(), schedule, identity(), start(&built.state)).unwrap();
    let whole = Folder::new("whole");
    let mut run = create(&whole.0);
    let ending = run.drive(&whole.0, |_, _| Wish::Continue).unwrap();
    assert!(matches!(ending, Ending::Completed), "{ending:?}");
    run.finish(&whole.0, 1.0, |_| Ok(())).unwrap();
    for every in [1, 3] {
        let cut = Folder::new(&format!("cut{every}"));
        let mut run = create(&cut.0);
        loop {
            let mut calls = 0;
            let ending = run.drive(&cut.0, |_, _| {
                calls += 1;
                match calls {
                    c if c == every => Wish::Checkpoint { wall_seconds: 0.0 },
                    c if c > every => Wish::Stop,
                    _ => Wish::Continue,
                }
            });
            if matches!(ending.unwrap(), Ending::Completed) {
                break;
            }
            drop(run);
            let checkpoint = Checkpoint::read(&cut.0).unwrap();
            run = RecordedMotion::resume(&cut.0, layout(), schedule, identity(), start(&checkpoint.state), &checkpoint)
                .unwrap();
        }
        run.finish(&cut.0, 1.0, |_| Ok(())).unwrap();
        assert!(whole.files() == cut.files(), "cut after every {every}");
    }
    let lines = String::from_utf8(whole.files()[2].clone()).unwrap();
    let names: Vec<String> = lines
        .lines()
        .map(|l| serde_json::from_str::<EventReport>(l).unwrap().name)
        .filter(|n| n != "swing" && n != "let-go")
        .collect();
    assert_eq!(names, ["lock", "pin", "blow", "unlock", "open", "loosen", "weld"]);
}

/// A lock of one joint of a chain of a thousand, in evaluations of the accelerations.
#[test]
fn work_of_a_lock() {
    for n in [1000, 4000] {
        let mut simulation = simulation(&chain(n), Formulation::Recursive, 1e-9);
        let mut a = Vec::new();
        let start = simulation.work_counter();
        simulation.accelerations(&mut a).unwrap();
        let evaluation = simulation.work_counter() - start;
        let id = simulation.joint(&format!("j{}", n / 3)).unwrap();
        let start = simulation.work_counter();
        simulation.apply("lock", &[Action::lock(id)]).unwrap();
        let cold = simulation.work_counter() - start;
        // Right after a step, positions and velocities are known.
        simulation.apply("unlock", &[Action::unlock(id)]).unwrap();
        simulation.advance(1.0).unwrap();
        let other = simulation.joint(&format!("j{}", n / 2)).unwrap();
        let start = simulation.work_counter();
        simulation.apply("lock", &[Action::lock(other)]).unwrap();
        let warm = simulation.work_counter() - start;
        let of = |work: u64| work as f64 / evaluation as f64;
        println!("{n} links: {:.2} evaluations from a standstill, {:.2} after a step", of(cold), of(warm));
        assert!(cold <= 2 * evaluation && warm <= 2 * evaluation, "{cold} {warm} {evaluation}");
    }
}

/// A state is read from files, and may be damaged there: an error says so, before anything is indexed by it.
#[test]
fn damaged_states_are_refused() {
    let scene = scene(
        r#"
        time = { end = 1 }
        body = [{ name = "a", mass = 1, inertia = [1, 1, 1], com = [1, 0, 0] }]
        joint = [{ name = "hinge", kind = "revolute", parent = "ground", child = "a", v = [1] }]
        event = [{ name = "stop", kind = "lock", joint = "hinge", time = 0 }]
        "#,
    );
    let mut simulation = simulation(&scene, Formulation::Recursive, 1e-9);
    simulation.advance(1.0).unwrap();
    let good = serde_json::to_value(simulation.state()).unwrap();
    let resume = |value: &Value| {
        let built = build(&scene).unwrap();
        Simulation::new(
            built.model,
            built.plan,
            Options::from_scene(&scene),
            serde_json::from_value(value.clone()).unwrap(),
        )
    };
    resume(&good).unwrap();
    let status = "/topology/joints/0";
    for (place, damage) in [
        (format!("{status}/hold/speeds"), serde_json::json!([7])),
        (format!("{status}/hold/q"), serde_json::json!([])),
        (format!("{status}/motors_off"), serde_json::json!([3])),
        (format!("{status}/spins"), serde_json::json!([{ "axis": [1.0, 0.0, 0.0], "on_parent": false }])),
        ("/topology/forces_off".to_owned(), serde_json::json!([2])),
        ("/topology/joints".to_owned(), serde_json::json!({ "9": good.pointer(status).unwrap() })),
        ("/events".to_owned(), serde_json::json!([good["events"][0], good["events"][0]])),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(&place).unwrap() = damage;
        let error = resume(&bad).err().unwrap_or_else(|| panic!("{place} is accepted"));
        assert!(matches!(error, StepError::WrongState(_)), "{place}: {error}");
    }
}
