//! The bits of many short runs, one line each: what a change that must keep results is compared by.
//!
//! Every scene in the given folders is run for some steps under each formulation and each integrator that can step it. A line has a
//! hash of the state (coordinates, speeds, work, dissipation) and one of what is observed at the end (bodies, forces in joints,
//! energies). Bits are those of one machine and one build of the mathematical library, so the lines are compared, not kept:
//!
//! ```sh
//! cargo run --release -p signorini --example fingerprint -- scenes > before.txt
//! ```
//!
//! Change the code, do it again, and `diff` both. A number after the folders is the number of steps (default 40).

use signorini::scene::read::read;
use signorini::scene::{Formulation, Integrator, Scene};
use signorini::step::{Observation, Options, Simulation, build};
use std::path::{Path, PathBuf};

/// FNV-1a over the bits of numbers.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, values: impl IntoIterator<Item = f64>) {
        for value in values {
            for byte in value.to_bits().to_le_bytes() {
                self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
}

fn formulation_name(formulation: Formulation) -> String {
    format!("{formulation:?}").to_lowercase()
}

fn scene_files(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            scene_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "toml") && !path.ends_with("expected.toml") {
            out.push(path);
        }
    }
}

fn run(scene: &Scene, options: Options, steps: usize) -> Result<String, String> {
    let built = build(scene).map_err(|e| e.to_string())?;
    let mut simulation = Simulation::new(built.model, built.plan, options, built.state).map_err(|e| e.to_string())?;
    let mut iterations = 0;
    let mut outcome = String::new();
    for _ in 0..steps {
        if simulation.state().time >= scene.time.end {
            break;
        }
        match simulation.advance(scene.time.end) {
            Ok(report) => iterations += report.iterations,
            Err(error) => {
                outcome = format!("  {error}");
                break;
            }
        }
    }
    let mut seen = Observation::default();
    let mut observed = Hash::new();
    match simulation.observe(true, &mut seen) {
        Ok(()) => {
            for b in &seen.bodies {
                observed.add(b.position.into_iter().chain(b.orientation).chain(b.velocity).chain(b.angular_velocity));
            }
            observed.add(seen.reactions.iter().flatten().chain(&seen.actuators).copied());
            observed.add([seen.kinetic, seen.potential]);
        }
        Err(error) => outcome = format!("{outcome}  observed: {error}"),
    }
    let state = simulation.state();
    let mut hash = Hash::new();
    hash.add(state.q.iter().chain(&state.v).chain(&state.cut_q).copied());
    hash.add([state.time, state.work, state.dissipated]);
    Ok(format!("{:016x} {:016x} steps {} iterations {iterations}{outcome}", hash.0, observed.0, state.steps))
}

fn main() {
    let mut files = Vec::new();
    let mut steps = 40;
    for argument in std::env::args().skip(1) {
        match argument.parse() {
            Ok(n) => steps = n,
            Err(_) => scene_files(Path::new(&argument), &mut files),
        }
    }
    for file in files {
        let name = file.with_extension("").to_string_lossy().into_owned();
        let scene = match read(&file) {
            Ok(scene) => scene,
            Err(error) => {
                println!("{name} {}", error.to_string().lines().next().unwrap_or_default());
                continue;
            }
        };
        for formulation in [Formulation::Recursive, Formulation::Dca, Formulation::Dense] {
            // The dense route is the oracle: its cost grows with the cube of the bodies.
            if formulation == Formulation::Dense && scene.body.len() > 40 {
                continue;
            }
            for integrator in [Integrator::Auto, Integrator::Rk4, Integrator::StewartTrinkle, Integrator::Moreau] {
                let own = Options::from_scene(&scene);
                if integrator != Integrator::Auto && (own.step.is_none() || own.integrator == integrator) {
                    continue;
                }
                let integrator = if integrator == Integrator::Auto { own.integrator } else { integrator };
                let line = run(&scene, Options { formulation, integrator, ..own }, steps);
                println!(
                    "{name} {} {} {}",
                    formulation_name(formulation),
                    integrator.name(),
                    line.unwrap_or_else(|e| e)
                );
            }
        }
    }
}
