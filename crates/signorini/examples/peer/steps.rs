//! Steps (parts T2 and T3 of the harness), behind the line protocol of `cases/other_engines/rapier/src/main.rs`.

use crate::scene::{PeerScene, convert};
use cpu_time::ProcessTime;
use serde_json::json;
use signorini::scene::{ContactMethod, Integrator, Policy, Restitution};
use signorini::spatial::Vec3;
use signorini::step::{Observation, Options, Simulation, build};
use std::error::Error;
use std::io::{BufRead, Write};

/// What the command line asks for; the engine's own defaults unless it does.
#[derive(Default)]
pub struct Wishes {
    tolerance: Option<f64>,
    rtol: Option<f64>,
    integrator: Integrator,
    method: ContactMethod,
    law: Restitution,
}

impl Wishes {
    /// From arguments `--name value`.
    pub fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let mut wishes = Self::default();
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("{name} wants a value"))?;
            let word = || serde_json::Value::String(value.clone());
            match name.as_str() {
                "--tolerance" => wishes.tolerance = Some(value.parse()?),
                "--rtol" => wishes.rtol = Some(value.parse()?),
                "--integrator" => wishes.integrator = serde_json::from_value(word())?,
                "--method" => wishes.method = serde_json::from_value(word())?,
                "--law" => wishes.law = serde_json::from_value(word())?,
                other => return Err(format!("{other} is not an option").into()),
            }
        }
        Ok(wishes)
    }
}

/// A run with the worst of its certificates.
struct Run {
    simulation: Simulation,
    seen: Observation,
    coms: Vec<Vec3>,
    h: f64,
    /// Steps of the harness so far; the adaptive method takes its own in between.
    done: u64,
    rel: f64,
    unsolved: u64,
    at_floor: u64,
    iterations: u64,
}

impl Run {
    fn new(peer: &PeerScene, wishes: &Wishes) -> Result<Self, Box<dyn Error>> {
        let mut scene = convert(peer)?;
        scene.time.step = Some(peer.h);
        scene.time.integrator = wishes.integrator;
        // Steps that are not solved are counted instead.
        scene.solver.policy = Policy::Accept;
        scene.solver.method = wishes.method;
        scene.solver.restitution = wishes.law;
        scene.solver.tolerance = wishes.tolerance;
        let built = build(&scene)?;
        let mut options = Options::from_scene(&scene);
        options.rtol = wishes.rtol.unwrap_or(options.rtol);
        let simulation = Simulation::new(built.model.clone(), built.plan, options, built.state)?;
        let coms = peer.bodies.iter().map(|b| Vec3::from(b.com)).collect();
        let seen = Observation::default();
        Ok(Self { simulation, seen, coms, h: peer.h, done: 0, rel: 0.0, unsolved: 0, at_floor: 0, iterations: 0 })
    }

    /// Advances by n steps of the harness; gives CPU seconds of the process, which has one thread.
    fn step(&mut self, n: u64) -> Result<f64, Box<dyn Error>> {
        let start = ProcessTime::now();
        self.done += n;
        let end = self.done as f64 * self.h;
        while self.simulation.state().time < end {
            let report = self.simulation.advance(end)?;
            self.rel = self.rel.max(report.residual.rel);
            self.unsolved += u64::from(report.is_unsolved);
            self.at_floor += u64::from(report.is_at_floor);
            self.iterations += u64::from(report.iterations);
        }
        Ok(start.elapsed().as_secs_f64())
    }

    /// Poses and velocities at the origins of body frames.
    fn state(&mut self) -> Result<serde_json::Value, Box<dyn Error>> {
        self.simulation.observe(false, &mut self.seen)?;
        let (mut x, mut v) = (Vec::new(), Vec::new());
        for (body, com) in self.seen.bodies.iter().zip(&self.coms) {
            let q = body.orientation;
            let arm = crate::scene::rotation(&q) * com;
            let spin = Vec3::from(body.angular_velocity);
            let at = Vec3::from(body.position) - arm;
            let velocity = Vec3::from(body.velocity) - spin.cross(&arm);
            x.push([at.x, at.y, at.z, q[0], q[1], q[2], q[3]]);
            v.push([velocity.x, velocity.y, velocity.z, spin.x, spin.y, spin.z]);
        }
        Ok(json!({ "x": x, "v": v }))
    }

    /// Per contact: gap at the end of the step, normal force, tangential force and velocity in world axes.
    fn contacts(&self) -> Vec<[f64; 8]> {
        let one = |c: &signorini::step::ContactReport| {
            let (normal, first) = (Vec3::from(c.normal), Vec3::from(c.tangent));
            let second = normal.cross(&first);
            let in_world = |x: &[f64; 3]| first * x[1] + second * x[2];
            let (force, velocity) = (in_world(&c.impulse) / self.h, in_world(&c.velocity));
            let gap = c.gap + self.h * c.velocity[0];
            let normal_force = c.impulse[0] / self.h;
            [gap, normal_force, force.x, force.y, force.z, velocity.x, velocity.y, velocity.z]
        };
        self.simulation.contacts().iter().map(one).collect()
    }

    /// The worst of all steps so far.
    fn certificate(&self) -> serde_json::Value {
        json!({
            "rel": self.rel, "unsolved": self.unsolved, "at_floor": self.at_floor, "iterations": self.iterations, "steps": self.done,
        })
    }
}

/// Answers commands, one line each, until `quit` or the end of input.
pub fn serve(peer: &PeerScene, wishes: &Wishes) -> Result<(), Box<dyn Error>> {
    let mut run = Run::new(peer, wishes)?;
    let mut out = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let mut words = line.split_whitespace();
        let reply = match words.next() {
            Some("step") => run.step(words.next().ok_or("step wants a number")?.parse()?)?.to_string(),
            Some("state") => run.state()?.to_string(),
            Some("ncon") => run.simulation.contacts().iter().filter(|c| c.impulse[0] > 0.0).count().to_string(),
            Some("contacts") => json!(run.contacts()).to_string(),
            Some("certificate") => run.certificate().to_string(),
            _ => break,
        };
        writeln!(out, "{reply}")?;
        out.flush()?;
    }
    Ok(())
}
