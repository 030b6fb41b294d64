//! A made-up mechanism, cheap and exactly repeatable, and what recordings of it must fulfil.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod kept;
mod killed;
mod layout;
mod plot;
mod resume;
mod round_trip;
mod summary;

use super::*;
use crate::scene::{ContactMethod, Formulation, Integrator, Output, Policy, Restitution};
use crate::state::State;
use crate::step::{BodyMotion, ContactReport, JointConstraintForce, Mode, Observation, StepReport};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A folder of its own, gone at the end of the test.
pub(super) struct Scratch(pub(super) PathBuf);

impl Scratch {
    pub(super) fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = format!("signorini-record-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(super) fn folder(&self, name: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(&path).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// An oscillator whose step wanders with its history, as an adaptive one's does.
#[derive(Clone)]
pub(super) struct Oscillator {
    state: State,
    /// Step number at which it refuses to go on.
    fails_at: u64,
    /// Of the last step: none to two contacts, by its number.
    contacts: Vec<ContactReport>,
    pushes: Vec<JointConstraintForce>,
    /// Whether somebody looks at forces, and the force of the last step where one was taken: no state has it.
    keeps_forces: bool,
    force: Option<f64>,
}

impl Oscillator {
    pub(super) fn new() -> Self {
        let state = State { q: vec![1.0], v: vec![0.25], ..State::default() };
        let (contacts, pushes) = (Vec::new(), Vec::new());
        Self { state, fails_at: u64::MAX, contacts, pushes, keeps_forces: false, force: None }
    }

    pub(super) fn failing_at(step: u64) -> Self {
        Self { fails_at: step, ..Self::new() }
    }

    pub(super) fn at(state: &State) -> Self {
        Self { state: state.clone(), ..Self::new() }
    }

    fn touch(&mut self, step: f64) {
        let (q, n) = (self.state.q[0], self.state.steps);
        let contact = |k: u64| ContactReport {
            id: [k << 32 | 7, 31 * k],
            bodies: [None, None],
            point: [q, 0.0, k as f64],
            points: [[q, 0.0, k as f64]; 2],
            normal: [0.0, 0.0, 1.0],
            tangent: [1.0, 0.0, 0.0],
            gap: -1e-3 * q,
            struck: 0.0,
            impulse: [step, -0.5 * step, 0.0],
            moment: [0.25 * step, 0.0, q],
            velocity: [0.0, q, 0.0],
            turn: [-q, 0.0, 0.0],
            mode: if k == 0 { Mode::Slip } else { Mode::Stick },
        };
        self.contacts = (0..n % 3).map(contact).collect();
        let push = |is_limit| JointConstraintForce {
            joint: 0,
            coordinate: 0,
            is_limit,
            force: if is_limit { q } else { -q },
            struck: 0.0,
        };
        self.pushes = if n.is_multiple_of(2) { vec![push(true), push(false)] } else { Vec::new() };
    }

    fn energies(&self) -> (f64, f64) {
        (0.5 * self.state.v[0].powi(2), 0.5 * self.state.q[0].powi(2))
    }
}

impl Motion for Oscillator {
    type Error = String;

    fn state(&self) -> &State {
        &self.state
    }

    fn advance(&mut self, limit: f64) -> Result<StepReport, String> {
        let state = &mut self.state;
        if state.steps + 1 >= self.fails_at {
            return Err("the spring broke".to_owned());
        }
        let wanted = 0.011 + 0.01 * (7.3 * state.control.step + state.q[0]).sin();
        let reaches = state.time + wanted >= limit;
        let step = if reaches { limit - state.time } else { wanted };
        state.v[0] -= step * state.q[0];
        state.q[0] += step * state.v[0];
        state.time = if reaches { limit } else { state.time + step };
        state.control.step = step;
        state.steps += 1;
        self.force = self.keeps_forces.then(|| -self.state.q[0] / step);
        self.touch(step);
        let (kinetic, potential) = self.energies();
        Ok(StepReport {
            contacts: self.contacts.len() as u32,
            iterations: 4,
            penetration: 1e-3 * self.state.q[0].max(0.0),
            time: self.state.time,
            step,
            evaluations: 12,
            rejected: u32::from(self.state.steps.is_multiple_of(3)),
            kinetic,
            potential,
            bilateral: 1e-16 * self.state.steps as f64,
            loop_position: 1e-14,
            loop_velocity: 1e-13,
            ..StepReport::default()
        })
    }

    fn contacts(&self) -> &[ContactReport] {
        &self.contacts
    }

    fn joint_constraint_forces(&self) -> &[JointConstraintForce] {
        &self.pushes
    }

    fn keep_forces(&mut self) {
        self.keeps_forces = true;
    }

    fn observe(&mut self, forces: bool, out: &mut Observation) -> Result<(), Self::Error> {
        let (q, v) = (self.state.q[0], self.state.v[0]);
        let (kinetic, potential) = self.energies();
        let body = BodyMotion {
            position: [q, 0.0, -0.0],
            orientation: [1.0, 0.0, 0.0, 0.0],
            velocity: [v, 0.0, 0.0],
            ..BodyMotion::default()
        };
        *out = Observation {
            time: self.state.time,
            bodies: vec![body],
            joint_q: vec![q],
            joint_v: vec![v],
            markers: vec![[q, q * q, 1.0 / q]],
            kinetic,
            potential,
            ..Observation::default()
        };
        if forces {
            out.reactions = vec![[0.0, 0.0, 0.0, 0.0, 0.0, 1.0]];
            out.actuators = vec![self.force.unwrap_or(-q)];
        }
        Ok(())
    }
}

pub(super) fn layout(output: &Output) -> Layout {
    let joints = [JointColumns { name: "slide".into(), q: 0..1, v: 0..1, limits: vec![0], frictions: vec![0] }];
    let bodies = ["mass".to_owned()];
    Layout::build(&bodies, &joints, &["tip".into()], output).unwrap().with_contacts(&bodies)
}

pub(super) fn identity(end: f64) -> Identity {
    Identity {
        engine: VERSION.to_owned(),
        scene: "oscillator".to_owned(),
        scene_hash: compute_hash(b"scene"),
        file_hashes: BTreeMap::new(),
        end,
        formulation: Formulation::Recursive,
        integrator: Integrator::Adaptive,
        step: None,
        rtol: 1e-9,
        method: ContactMethod::Auto,
        tolerance: 1e-12,
        restitution: Restitution::Newton,
        policy: Policy::Stop,
        csv: true,
        changes: Vec::new(),
    }
}

pub(super) fn start(folder: &Path, end: f64, output: &Output, motion: Oscillator) -> RecordedMotion<Oscillator> {
    let schedule = Schedule::new(end, output).unwrap();
    RecordedMotion::create(folder, layout(output), schedule, identity(end), motion).unwrap()
}

pub(super) fn go_on(folder: &Path, end: f64, output: &Output) -> RecordedMotion<Oscillator> {
    let checkpoint = Checkpoint::read(folder).unwrap();
    let motion = Oscillator::at(&checkpoint.state);
    let schedule = Schedule::new(end, output).unwrap();
    RecordedMotion::resume(folder, layout(output), schedule, identity(end), motion, &checkpoint).unwrap()
}
