//! Steps with hard contact.
//!
//! **Problem.** Advance a mechanism whose bodies touch, slide, stick and strike each other and whose joints have limits and dry friction,
//! so that gap ≥ 0, impulse ≥ 0 and one of them is zero at the end of every step.
//!
//! **Method.** Paper 000, eq. 13–16, on velocities and impulses [bhalerao2009, stewart1996]:
//!
//! ```text
//! M(q)(v⁺ − v) = h F(q + h v/2, v) + Wᵀ r,      q⁺ = q ⊕ h v⁺,      0 ≤ gap/h + W_n v⁺ ⊥ r_n ≥ 0,  Coulomb
//! ```
//!
//! with loops closed, W_loop v⁺ = 0. All of a step's impulses are one contact problem (`contact/`). A gap that is negative is not
//! turned into velocity: it is removed by a displacement of its own (`position.rs`), which adds no kinetic energy.
//! Restitution follows in the step after a contact has closed (`restitution.rs`).
//!
//! **Cost.** One evaluation of the accelerations, one contact problem.
//!
//! **Fails when** the contact problem has no solution or cannot be solved: the run's policy decides.
//!
//! **Checked by** `tests/contact_motion.rs`.

mod assemble;
mod touching;

pub(crate) use assemble::Rows;
pub(crate) use touching::{Law, Place, Touching};

use super::system::System;
use super::{Simulation, StepError, StepReport};
use crate::contact::solve::{Auto, AutoOptions, DEFAULT_TOLERANCE};
use crate::contact::{ContactProblem, ContactSolver, Solution, Start};
use crate::dynamics::loads::Power;
use crate::dynamics::recursive::loops::{Loops, RowKind};
use crate::model::{Fittings, Instant, Signal};
use crate::spatial::Vec3;
use crate::state::ContactMemory;

/// Scratch of the contact steps.
pub(crate) struct Stepper {
    pub rows: Rows,
    pub touching: Vec<Touching>,
    pub solver: Box<dyn ContactSolver>,
    pub solution: Solution,
    pub problem: Option<ContactProblem>,
    rates: Vec<f64>,
    free: Vec<f64>,
    u_start: Vec<f64>,
    u_free: Vec<f64>,
}

impl Stepper {
    /// For a mechanism in which something may push.
    pub fn build(system: &System) -> Option<Box<Self>> {
        let pushes = |f: &Fittings| {
            !(f.lower.is_empty() && f.upper.is_empty() && f.friction.is_empty() && f.friction_load.is_empty())
        };
        let is_needed = system.model.joints().iter().any(|j| pushes(&j.fittings));
        is_needed.then(|| Box::new(Self::new(system, DEFAULT_TOLERANCE)))
    }

    fn new(system: &System, tolerance: f64) -> Self {
        let (n_q, n_v) = system.sizes();
        let n_extra = system.workspace().loops.n_unknowns().saturating_sub(n_v);
        Self {
            rows: Rows::new(system, n_extra),
            touching: Vec::new(),
            solver: Box::new(Auto::new(AutoOptions { tolerance, ..AutoOptions::default() })),
            solution: Solution::default(),
            problem: None,
            rates: vec![0.0; n_v],
            free: vec![0.0; n_v],
            u_start: Vec::new(),
            u_free: Vec::with_capacity(n_q),
        }
    }
}

/// Share of a limit's distance, in steps at the present speed, at which it is watched.
const LIMIT_MARGIN: f64 = 2.0;

impl Simulation {
    /// One step of the fixed grid with contact.
    pub(crate) fn advance_contact(&mut self, limit: f64) -> Result<StepReport, StepError> {
        let start = self.state.time;
        let end = self.grid_end(limit);
        let h = end - start;
        if h <= 0.0 {
            return Err(StepError::StepTooSmall { time: start, step: h });
        }
        let Some(mut stepper) = self.stepper.take() else { return Err(StepError::Internal("no contact stepper")) };
        let outcome = self.contact_step(start, h, &mut stepper);
        self.stepper = Some(stepper);
        let mut report = outcome?;
        self.next.time = end;
        self.next.control = self.state.control;
        (report.time, report.step) = (end, h);
        self.finish(report)
    }

    fn contact_step(&mut self, start: f64, h: f64, s: &mut Stepper) -> Result<StepReport, StepError> {
        let mut report = StepReport { evaluations: 1, ..StepReport::default() };
        let power = self.find_free_motion(start, h, s)?;
        self.find_touching(h, s);
        self.next.contacts.clear();
        let mut dissipated = power.dissipated * h;
        if !s.touching.is_empty() {
            dissipated += self.solve_contacts(h, s, &mut report)?;
        }
        self.move_by(h, s);
        self.next.work = self.state.work + h * power.work;
        self.next.dissipated = self.state.dissipated + dissipated;
        Ok(report)
    }

    /// Speeds at the end of the step without contact, in `s.free`; sweeps and loops are left factored at the start of the step.
    fn find_free_motion(&mut self, start: f64, h: f64, s: &mut Stepper) -> Result<Power, StepError> {
        let (system, w, next) = (&self.system, &mut self.work, &mut self.next);
        let inside = start + 0.5 * h;
        let (now, middle) = (Instant { time: start, inside }, Instant { time: inside, inside });
        // Forces at the middle position (eq. 13a).
        next.q.copy_from_slice(&self.state.q);
        next.v.copy_from_slice(&self.state.v);
        system.displace(&mut next.q, &next.v, 0.5 * h);
        system.project(middle, &mut next.q, &mut next.v, w)?;
        let mut power = system.update_loads(middle, &next.q, &next.v, &self.input, w);
        next.q.copy_from_slice(&self.state.q);
        next.v.copy_from_slice(&self.state.v);
        w.cut_q.copy_from_slice(&self.state.cut_q);
        let (tau, external) = (w.tau.clone(), w.external.clone());
        system.project(now, &mut next.q, &mut next.v, w)?;
        w.recursion.update_positions(&system.tree);
        (w.tau, w.external) = (tau, external);
        // Prescribed speeds are those that bring the coordinate where it belongs.
        for (link, k, signal) in &system.motions {
            let at = system.tree.links[*link].v as usize + k;
            w.prescribed[at] = (step_rate(signal, now, h) - next.v[at]) / h;
        }
        system.accelerate(now, &mut s.rates, w)?;
        power.work += system.motion_power(&s.rates, &next.v, w);
        for (free, (v, rate)) in s.free.iter_mut().zip(next.v.iter().zip(&s.rates)) {
            *free = v + h * rate;
        }
        self.close_loops(start, h, s);
        Ok(power)
    }

    /// Takes from the free speeds what opens loops.
    fn close_loops(&mut self, start: f64, h: f64, s: &mut Stepper) {
        let (system, w) = (&self.system, &mut self.work);
        if w.loops.rows.is_empty() {
            return;
        }
        w.recursion.find_twists(&system.tree, &s.free, &mut s.rows.twists);
        let end = Instant { time: start + h, inside: start + 0.5 * h };
        for r in 0..w.loops.rows.len() {
            let row = w.loops.rows[r];
            let relative = system.cuts[row.cut].relative_motion(&w.closures[row.cut], &s.rows.twists);
            let opening = relative.dot(&Loops::direction(&row, &w.closures));
            w.loops.set_rhs(
                r,
                match row.kind {
                    RowKind::Closed(_) => -opening,
                    RowKind::Prescribed(k) => system.cut_motion(row.cut, k, end)[1] - opening,
                    RowKind::Rotor(..) => 0.0,
                },
            );
        }
        w.loops.solve();
        w.loops.respond(&system.tree, &w.recursion, &mut w.displacement);
        s.free.iter_mut().zip(&w.displacement).for_each(|(v, d)| *v += d);
    }

    /// Everything that may push in this step.
    fn find_touching(&mut self, h: f64, s: &mut Stepper) {
        s.touching.clear();
        self.find_joint_rows(h, s);
    }

    /// Limits that may be reached, and dry friction.
    fn find_joint_rows(&mut self, h: f64, s: &mut Stepper) {
        let (system, w) = (&self.system, &self.work);
        for (j, joint) in system.model.joints().iter().enumerate().filter(|(_, j)| !j.is_absent) {
            let f = &joint.fittings;
            if f.lower.is_empty() && f.upper.is_empty() && f.friction.is_empty() && f.friction_load.is_empty() {
                continue;
            }
            for k in (0..joint.v.len()).filter(|&k| f.motion(k).is_none()) {
                let (place, q, v, free) = match system.plan.link_of_joint[j] {
                    Some(link) => {
                        let l = &system.tree.links[link];
                        let (at_q, at_v) = (l.q as usize + k, l.v as usize + k);
                        (Place::Speed { link, speed: at_v }, self.next.q[at_q], self.next.v[at_v], s.free[at_v])
                    }
                    None => {
                        let Some(cut) = system.cuts.iter().position(|c| c.joint.index() == j && c.spin.is_none()) else {
                            continue;
                        };
                        let v = w.cut_v[system.cuts[cut].v.start + k];
                        (Place::Cut { cut, k }, w.cut_q[system.cuts[cut].q.start + k], v, v)
                    }
                };
                let row = |law: Law, gap: f64, tag: u64| Touching {
                    id: [u64::MAX - j as u64, tag * 8 + k as u64],
                    place,
                    law,
                    gap,
                    restitution: f.restitution,
                    ..Touching::default()
                };
                let reach = LIMIT_MARGIN * h * v.abs().max(free.abs());
                for (side, limits, tag) in [(1.0, &f.lower, 0), (-1.0, &f.upper, 1)] {
                    let Some(limit) = limits.get(k).filter(|x| x.is_finite()) else { continue };
                    let gap = side * (q - limit);
                    if gap <= reach {
                        s.touching.push(row(Law::Limit { side }, gap, tag));
                    }
                }
                let bound = f.friction.get(k).copied().unwrap_or(0.0);
                if bound > 0.0 {
                    s.touching.push(row(Law::DryFriction { bound: bound * h }, 0.0, 2));
                }
            }
        }
    }

    /// Solves for all impulses of the step and adds what they do to `s.free`. Returns the energy that they took.
    fn solve_contacts(&mut self, h: f64, s: &mut Stepper, report: &mut StepReport) -> Result<f64, StepError> {
        let (system, w) = (&self.system, &self.work);
        s.rows.pose(system, &s.touching, w);
        let mut u_start = std::mem::take(&mut s.u_start);
        let mut u_free = std::mem::take(&mut s.u_free);
        s.rows.velocities(system, &s.touching, &self.next.v, w, &mut u_start);
        s.rows.velocities(system, &s.touching, &s.free, w, &mut u_free);
        let mut shifted = u_free.clone();
        let offsets = s.rows.ports.offsets().to_vec();
        for (c, t) in s.touching.iter().enumerate().filter(|(_, t)| t.is_unilateral()) {
            let memory = self.remembered(t.id);
            let rebound = memory.filter(|m| m.approach < 0.0).map(|m| t.restitution * m.approach);
            shifted[offsets[c]] += match rebound {
                Some(rebound) if rebound < 0.0 => rebound,
                _ => t.gap.max(0.0) / h,
            };
        }
        let internal = |_| StepError::Internal("a contact problem with wrong numbers");
        let problem = ContactProblem::build(s.rows.delassus.clone(), shifted, s.rows.cones.clone()).map_err(internal)?;
        s.solution.r.clear();
        for t in &s.touching {
            let memory = self.remembered(t.id).map_or([0.0; 3], |m| m.in_tangents(t));
            s.solution.r.extend_from_slice(&memory[..t.n_rows()]);
        }
        s.solver.solve_into(&problem, Start::Warm, &mut s.solution).map_err(internal)?;
        s.problem = Some(problem);
        let solution = &s.solution;
        report.residual = solution.residual;
        report.iterations = solution.work.iterations() as u32;
        report.contacts = s.touching.iter().filter(|t| matches!(t.law, Law::Contact { .. })).count() as u32;
        report.penetration = s.touching.iter().fold(0.0, |m: f64, t| m.max(-t.gap));
        if !solution.status.is_solved() {
            report.is_unsolved = true;
        }
        let mut taken = 0.0;
        let mut u_end = u_free.clone();
        s.rows.ports.respond(&system.tree, &w.recursion, &solution.r, &mut s.free);
        s.rows.velocities(system, &s.touching, &s.free, w, &mut u_end);
        for (c, t) in s.touching.iter().enumerate() {
            let rows = offsets[c]..offsets[c + 1];
            let loss: f64 = rows.clone().map(|i| -0.5 * solution.r[i] * (u_free[i] + u_end[i])).sum();
            taken += loss;
            let mut impulse = [0.0; 3];
            impulse[..rows.len()].copy_from_slice(&solution.r[rows.clone()]);
            let closed = t.is_unilateral() && impulse[0] > 0.0 && u_start[rows.start] < 0.0;
            let was_closed = self.remembered(t.id).is_some_and(|m| m.approach < 0.0);
            let approach = if closed && !was_closed { u_start[rows.start] } else { 0.0 };
            let tangents = t.tangents.map(<[f64; 3]>::from);
            self.next.contacts.push(ContactMemory { id: t.id, impulse, tangents, approach, loss });
        }
        (s.u_start, s.u_free) = (u_start, u_free);
        Ok(taken)
    }

    fn remembered(&self, id: [u64; 2]) -> Option<&ContactMemory> {
        self.state.contacts.iter().find(|m| m.id == id)
    }

    /// q⁺ = q ⊕ h v⁺.
    fn move_by(&mut self, h: f64, s: &Stepper) {
        self.next.v.copy_from_slice(&s.free);
        let v = std::mem::take(&mut self.next.v);
        self.system.displace(&mut self.next.q, &v, h);
        self.next.v = v;
    }
}

impl ContactMemory {
    /// The impulse in the tangents that the contact has now.
    fn in_tangents(&self, t: &Touching) -> [f64; 3] {
        let [a, b] = self.tangents.map(Vec3::from);
        let tangential = a * self.impulse[1] + b * self.impulse[2];
        [self.impulse[0], t.tangents[0].dot(&tangential), t.tangents[1].dot(&tangential)]
    }
}

impl System {
    /// Moves coordinates along the manifold by h v.
    fn displace(&self, q: &mut [f64], v: &[f64], h: f64) {
        for link in &self.tree.links {
            let mut step = [0.0; 6];
            for (k, at) in link.v_range().enumerate() {
                step[k] = h * v[at];
            }
            link.joint_type().displace(&mut q[link.q_range()], &step[..link.n_v as usize]);
        }
    }
}

/// Mean rate of a signal over a step.
fn step_rate(signal: &Signal, now: Instant, h: f64) -> f64 {
    let end = Instant { time: now.time + h, inside: now.inside };
    match signal {
        Signal::Constant(_) => 0.0,
        _ => (signal.at(end)[0] - signal.at(now)[0]) / h,
    }
}
