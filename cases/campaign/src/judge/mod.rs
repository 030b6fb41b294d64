//! What must hold of every scene, whatever its answer is.
//!
//! **Problem.** Random scenes have no reference. What can be asked of them are laws that hold for all: of mechanics, of the words in which
//! a scene is written, of the method.
//!
//! **Method.** Each check reads from the scene ([`crate::facts`]) whether it applies, and judges a run, or compares runs. A comparison asks
//! that two runs differ by no more than a disturbance of 10⁻¹⁰ grows to: motion may be unstable, and then nobody can ask for more.
//!
//! **Cost.** One run for the laws of mechanics, two disturbed ones and one per change for the words, fourteen more for the step.
//!
//! **Fails when** a scene's laws are broken too slightly to see: what is caught is what is wrong by more than the stated tolerances.
//!
//! **Checked by** `cases/campaign/tests/judge.rs`: every check finds a motion that was spoilt on purpose.

mod mechanics;
mod passage;
mod words;

pub use words::Spread;

use crate::run::{End, Trace, run};
use crate::transform::{ALL, Change};
use signorini::scene::{Formulation, Scene};

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// The scene is accepted and its run goes to the end.
    Completed,
    /// Every contact problem is solved.
    Solved,
    /// Energy never rises without a motor.
    Energy,
    /// Overlap at the start is removed without a leap.
    Leap,
    /// Linear momentum is kept where nothing acts from outside.
    LinearMomentum,
    /// Angular momentum is.
    AngularMomentum,
    /// Nothing goes through anything.
    Passage,
    /// Balls without friction do not spin up.
    Spin,
    /// What can stand stands.
    Rest,
    /// What is held with more than it needs is held.
    Grasp,
    /// No step takes a thousand times the work of the others.
    Work,
    /// The same scene in other words moves the same.
    Words(Change),
    /// All formulations move the same.
    Formulations(Formulation),
    /// Shorter steps come together.
    Steps,
}

impl Check {
    /// Its name in tables.
    pub fn name(self) -> String {
        match self {
            Self::Completed => "completed".into(),
            Self::Solved => "solved".into(),
            Self::Energy => "energy".into(),
            Self::Leap => "leap".into(),
            Self::LinearMomentum => "linear-momentum".into(),
            Self::AngularMomentum => "angular-momentum".into(),
            Self::Passage => "passage".into(),
            Self::Spin => "spin".into(),
            Self::Rest => "rest".into(),
            Self::Grasp => "grasp".into(),
            Self::Work => "work".into(),
            Self::Words(change) => change.name().into(),
            Self::Formulations(f) => format!("{f:?}").to_lowercase(),
            Self::Steps => "steps".into(),
        }
    }

    /// Every check, in the order in which tables show them.
    pub fn all() -> Vec<Self> {
        let mut all = SINGLE.to_vec();
        all.extend(ALL.map(Self::Words));
        all.extend([Formulation::Dca, Formulation::Dense].map(Self::Formulations));
        all.push(Self::Steps);
        all
    }

    /// By its name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|check| check.name() == name)
    }

    /// Checks of a seed: all that need one run, and some of those that need more, others for other seeds.
    pub fn of_seed(seed: u64) -> Vec<Self> {
        // Twelve families take turns with the seed; what changes here must not.
        let turn = (seed / crate::generate::FAMILIES.len() as u64) as usize;
        let mut checks = SINGLE.to_vec();
        checks.push(Self::Words(ALL[turn % ALL.len()]));
        checks.push(Self::Words(ALL[(turn + 3) % ALL.len()]));
        checks.push(Self::Formulations([Formulation::Dca, Formulation::Dense][turn % 2]));
        if turn.is_multiple_of(3) {
            checks.push(Self::Steps);
        }
        checks
    }
}

/// Checks that need one run.
const SINGLE: [Check; 11] = [
    Check::Completed,
    Check::Solved,
    Check::Energy,
    Check::Leap,
    Check::LinearMomentum,
    Check::AngularMomentum,
    Check::Passage,
    Check::Spin,
    Check::Rest,
    Check::Grasp,
    Check::Work,
];

/// What a check has found wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The check.
    pub check: Check,
    /// What was seen, with numbers.
    pub what: String,
}

/// Asks a scene several things; runs that several checks need are made once.
pub fn judge(scene: &Scene, checks: &[Check]) -> Vec<Failure> {
    let trace = match run(scene) {
        Ok(trace) => trace,
        Err(what) if checks.contains(&Check::Completed) => return vec![Failure { check: Check::Completed, what }],
        Err(_) => return Vec::new(),
    };
    let mut spread = None;
    let found = checks.iter().filter_map(|&check| {
        let what = of_run(check, scene, &trace).or_else(|| of_runs(check, scene, &trace, &mut spread))?;
        Some(Failure { check, what })
    });
    found.collect()
}

/// The checks of one run.
pub fn of_run(check: Check, scene: &Scene, trace: &Trace) -> Option<String> {
    match check {
        Check::Completed => match &trace.end {
            End::Stopped(why) => Some(why.clone()),
            _ => None,
        },
        Check::Solved => match &trace.end {
            End::Unsolved(why) => Some(why.clone()),
            _ => None,
        },
        Check::Energy => mechanics::energy(scene, trace),
        Check::Leap => mechanics::leap(scene, trace),
        Check::LinearMomentum => mechanics::linear_momentum(scene, trace),
        Check::AngularMomentum => mechanics::angular_momentum(scene, trace),
        Check::Passage => passage::passage(scene, trace),
        Check::Spin => mechanics::spin(scene, trace),
        Check::Rest => mechanics::rest(scene, trace),
        Check::Grasp => mechanics::grasp(scene, trace),
        Check::Work => mechanics::work(trace),
        Check::Words(_) | Check::Formulations(_) | Check::Steps => None,
    }
}

/// The checks that compare runs.
fn of_runs(check: Check, scene: &Scene, trace: &Trace, spread: &mut Option<Spread>) -> Option<String> {
    let is_one_run = SINGLE.contains(&check);
    if is_one_run || trace.instants.len() < 2 {
        return None;
    }
    let spread = spread.get_or_insert_with(|| Spread::find(scene, trace));
    match check {
        Check::Words(change) => words::changed(change, scene, trace, spread),
        Check::Formulations(formulation) => words::formulated(formulation, scene, trace, spread),
        Check::Steps => words::refined(scene, trace, spread),
        _ => None,
    }
}
