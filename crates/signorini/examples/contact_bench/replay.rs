//! Keeps problems of consecutive steps with their starts, and solves them again.

use crate::scenes::Source;
use signorini::contact::solve::{Auto, AutoOptions};
use signorini::contact::{ContactProblem, ContactSolver, Solution, Start, store};
use signorini::scene::Policy;
use signorini::step::{ContactReport, Options, Simulation, build};
use std::path::Path;

#[path = "../../tests/support/generate.rs"]
#[allow(dead_code, missing_docs, clippy::unwrap_used, clippy::expect_used)]
mod generate;

/// A problem, and the impulses that it was started from.
pub struct Item {
    problem: ContactProblem,
    start: Vec<f64>,
}

/// Problems of one kind.
pub struct Sequence {
    pub name: String,
    pub items: Vec<Item>,
    is_warm: bool,
}

/// What solving all of them cost.
#[derive(Default)]
pub struct Cost {
    pub multiplications: u64,
    pub seconds: f64,
    pub unsolved: usize,
}

/// Runs a scene and keeps problems, evenly spread over its time.
pub fn record(source: &Source) -> Option<Sequence> {
    let fail = |e: &dyn std::fmt::Display| {
        eprintln!("{}: {e}", source.name);
        None
    };
    let scene = match signorini::scene::read::read_str(&source.scene, source.name, ".") {
        Ok(scene) => scene,
        Err(e) => return fail(&e),
    };
    let built = match build(&scene) {
        Ok(built) => built,
        Err(e) => return fail(&e),
    };
    let options = Options { policy: Policy::Accept, ..Options::from_scene(&scene) };
    let mut simulation = match Simulation::new(built.model, built.plan, options, built.state) {
        Ok(simulation) => simulation,
        Err(e) => return fail(&e),
    };
    let mut items = Vec::new();
    let mut before: Vec<ContactReport> = Vec::new();
    while simulation.state().time < source.until {
        if let Err(e) = simulation.advance(source.until) {
            fail(&e);
            break;
        }
        let contacts = simulation.contacts();
        if simulation.state().time > source.from
            && !contacts.is_empty()
            && let Some(problem) = simulation.contact_problem()
        {
            items.push(Item { problem: problem.duplicate(), start: start(problem, contacts, &before) });
        }
        before.clear();
        before.extend_from_slice(contacts);
    }
    // Neighbours stay neighbours in kind, not in number.
    let stride = items.len().div_ceil(source.most.max(1)).max(1);
    let items = items.into_iter().step_by(stride).collect();
    Some(Sequence { name: source.name.to_owned(), items, is_warm: true })
}

/// The impulses of the step before, in the tangents of this one; zero for what is new.
fn start(problem: &ContactProblem, now: &[ContactReport], before: &[ContactReport]) -> Vec<f64> {
    let mut r = vec![0.0; problem.n_rows()];
    if now.len() != problem.n_contacts() {
        return r;
    }
    let dot = |a: &[f64; 3], b: &[f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    for (contact, rows) in now.iter().zip(problem.offsets().windows(2)) {
        let Some(old) = before.iter().find(|b| b.id == contact.id) else { continue };
        let rows = &mut r[rows[0]..rows[1]];
        rows[0] = old.impulse[0] - old.struck;
        let ([a, b], [c, d]) = (tangents(old), tangents(contact));
        let t: [f64; 3] = std::array::from_fn(|k| a[k] * old.impulse[1] + b[k] * old.impulse[2]);
        for (to, direction) in rows[1..].iter_mut().zip([c, d]) {
            *to = dot(&t, &direction);
        }
    }
    r
}

fn tangents(c: &ContactReport) -> [[f64; 3]; 2] {
    let (n, t) = (c.normal, c.tangent);
    [t, [n[1] * t[2] - n[2] * t[1], n[2] * t[0] - n[0] * t[2], n[0] * t[1] - n[1] * t[0]]]
}

/// Random problems that are solvable by construction, law by law, from zero.
pub fn random() -> Vec<Sequence> {
    use generate::{Law, Recipe, Rng, problem};
    let laws = [
        (Law::Frictionless, 100, 120),
        (Law::Planar, 100, 120),
        (Law::Circular, 150, 120),
        (Law::Rolling, 60, 40),
        (Law::Polygonal, 60, 40),
        (Law::Ellipsoidal, 60, 30),
    ];
    let sequence = |(law, count, most): (Law, u64, usize)| {
        let items = (0..count).map(|seed| {
            let mut rng = Rng(seed * 7919 + 1);
            let recipe = Recipe::random(law, most, &mut rng);
            Item { problem: problem(&recipe, &mut rng).0, start: Vec::new() }
        });
        Sequence { name: format!("random, {law:?}").to_lowercase(), items: items.collect(), is_warm: false }
    };
    laws.map(sequence).into()
}

/// All stored problems of a folder, from zero.
pub fn stored(folder: &Path) -> Option<Sequence> {
    let mut files: Vec<_> = std::fs::read_dir(folder).ok()?.filter_map(|e| Some(e.ok()?.path())).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "npz"));
    files.sort();
    let read = |p: &std::path::PathBuf| Some(Item { problem: store::read_problem(p).ok()?, start: Vec::new() });
    Some(Sequence { name: "stored".into(), items: files.iter().filter_map(read).collect(), is_warm: false })
}

impl Sequence {
    /// Solves all, without some pieces and below a ceiling.
    pub fn solve(&self, tolerance: f64, without: &[&'static str], ceiling: f64) -> Cost {
        let options = if self.is_warm {
            AutoOptions::in_motion(tolerance)
        } else {
            AutoOptions { tolerance, ..Default::default() }
        };
        let mut solver = Auto::new(AutoOptions { without: without.to_vec(), ceiling, ..options });
        let (mut solution, mut cost) = (Solution::default(), Cost::default());
        for item in &self.items {
            solution.r.clone_from(&item.start);
            let begin = processor_seconds();
            if solver
                .solve_into(&item.problem, if self.is_warm { Start::Warm } else { Start::Cold }, &mut solution)
                .is_err()
            {
                cost.unsolved += 1;
                continue;
            }
            cost.seconds += processor_seconds() - begin;
            cost.multiplications += solution.work.multiplications;
            cost.unsolved += usize::from(!solution.status.is_solved());
        }
        cost
    }
}

/// Seconds for which this thread had a processor, where the system says so; else zero.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    1e-9 * text.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0)
}
