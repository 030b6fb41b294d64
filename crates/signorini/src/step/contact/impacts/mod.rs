//! Strikes: contacts with restitution that close within a step.
//!
//! **Problem.** Bodies that meet with a velocity must part with one, by Newton's, Poisson's or an energetic law, in whatever mechanism.
//!
//! **Method.** A contact with restitution e that closes in the step, after the time τ by its gap and velocity, strikes at once: with
//! u⁻ its velocity then, all contacts that strike or are closed find impulses p, u⁺ = u⁻ + G p, under one of three laws. Strikes of one
//! mechanism, or of several that closed contacts and loops tie together, happen in the order of their times: the first of them, and those that
//! have closed by then, in one round, others in the next, with the velocities that it leaves.
//!
//! * *Newton* [bhalerao2009, eq. 16]: 0 ≤ u_n⁺ + e u_n⁻ ⊥ p_n ≥ 0 where it strikes, 0 ≤ u_n⁺ ⊥ p_n ≥ 0 where it was closed; Coulomb. The paper
//!   spreads this over two steps, approach in one and rebound in the next; here velocities before the strike are at hand for every contact. What was closed and is
//!   opening has e = 1: strikes of others may drive it shut, and it strikes then. A push there that ended at u_n⁺ = 0 would do the work ½ p_n u_n⁻ > 0. So each
//!   contact does ½ p_n (u_n⁺ + u_n⁻) ≤ 0: **without friction kinetic energy does not rise for e ≤ 1**, in any number of bodies.
//! * *Poisson*: compression, 0 ≤ u_n ⊥ p_n ≥ 0 with Coulomb; then expansion gives back P = e p_n, with friction of at most μ P
//!   (within a box in its section, a corner of it in the direction of compression's friction), and whatever
//!   keeps the other contacts closed.
//! * *Energetic*: Poisson's, with P scaled down where expansion would do more work than E = Σ e² W, W = −½ p_n u_n⁻ ≥ 0 the work that compression
//!   stored in the normal direction of each contact (Stronge's coefficient for one contact that does not reverse its slip). Compression takes
//!   L = ½ pᵀG p − pᵀu ≥ 0 from the mechanism, since impulses do no work on u; expansion gives at most min(E, L). So kinetic energy never rises.
//!
//! Impulses act from τ on, so the step's displacement h v⁺ is shortened by τ Δv. After Moreau times are counted from the middle of the step, and what overlaps there has
//! struck on the way from the last middle: τ = gap/−u < 0, and the displacement is longer. Strikes that follow from strikes (Newton's cradle) happen in the
//! same step, round after round. A rebound that is slower than the velocity which the step's own forces
//! give to one of the two bodies is too short for the step to resolve, and the contact closes for good: rest is rest.
//!
//! **Cost.** One contact problem per round (two for Poisson; some dozen where energy limits the rebound).
//!
//! **Fails when** a problem is not solved: the report says so. Where friction jams a mechanism, Newton's law may have no solution: then the strike
//! is one without rebound, and the report counts it.
//!
//! **Checked by** `tests/contact_analytic.rs`, `tests/contact_references.rs`, `tests/contact_restitution.rs`.

mod expansion;
mod order;

use super::assemble::write_cones;
use super::constraint::ContactConstraint;
use super::found::Constraints;
use super::motion::{Interval, Mechanism, Moving};
use super::quantity::{RowDisplacements, RowImpulseTimes, RowImpulses, RowVelocities, Speeds};
use super::scheme::Scheme;
use super::{Unsolved, contact_failed};
use crate::contact::solve::{Auto, AutoOptions};
use crate::contact::{ContactProblem, ContactSolver, Solution, Start};
use crate::dynamics::Attachment;
use crate::dynamics::System;
use crate::scene::Restitution;
use crate::spatial::Vec3;
use crate::step::{StepError, StepReport};
use expansion::Expansion;
use order::{Candidate, Order};

/// Most rounds of strikes in one step. What strikes after that closes without restitution.
const MAX_ROUNDS: usize = 200;

/// Most strikes of one contact in a step. Others may drive it shut again and again, with e = 1 without end; then it closes without restitution.
const MOST_STRIKES: usize = 8;

/// What struck in a step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ImpactRecord {
    pub constraint: ContactConstraint,
    /// Along the normal and both tangents, and about them.
    pub impulse: [[f64; 3]; 2],
    /// Velocity before and after it.
    pub before: [[f64; 3]; 2],
    pub velocity: [[f64; 3]; 2],
    /// Whether it struck; else it was closed and took part.
    pub strikes: bool,
    /// Its place among all that struck in the step.
    pub order: usize,
}

impl ImpactRecord {
    /// Adds its impulse to one in the directions that the contact has now.
    pub fn add_to(&self, t: &ContactConstraint, mut impulse: [[f64; 3]; 2]) -> [[f64; 3]; 2] {
        let (then, now) = (self.constraint.directions(), t.directions());
        for (sum, own) in impulse.iter_mut().zip(self.impulse) {
            if then == now {
                sum.iter_mut().zip(own).for_each(|(sum, p)| *sum += p);
                continue;
            }
            let vector = then.iter().zip(own).map(|(d, p)| d * p).sum::<Vec3>();
            sum.iter_mut().zip(now).for_each(|(sum, d)| *sum += d.dot(&vector));
        }
        impulse
    }
}

/// Contacts that strike together, and the closed ones with them.
#[derive(Default)]
struct Round {
    members: Vec<ContactConstraint>,
    /// Time of the strike; not finite for those that were closed.
    times: Vec<f64>,
    /// Velocities of all rows before.
    before: RowVelocities,
}

/// Velocities along the rows of all that may push, and what strikes have moved.
#[derive(Default)]
struct Approach {
    start: RowVelocities,
    end: RowVelocities,
    shift: RowDisplacements,
}

/// The strikes of a step.
pub(crate) struct Impacts {
    law: Restitution,
    solver: Auto,
    problem: ContactProblem,
    solution: Solution,
    expansion: Expansion,
    approach: Approach,
    order: Order,
    round: Round,
    impulses: RowImpulses,
    /// Velocities after the strikes of a round.
    after: RowVelocities,
    /// What they change in the speeds, and how much later than at the start of the step they act.
    change: Speeds,
    delay: RowImpulseTimes,
    /// All that struck in this step.
    struck: Vec<ImpactRecord>,
    n_rounds: usize,
}

impl Impacts {
    pub fn new(law: Restitution, tolerance: f64) -> Self {
        Self {
            law,
            solver: Auto::new(AutoOptions::for_strikes(tolerance)),
            problem: ContactProblem::default(),
            solution: Solution::default(),
            expansion: Expansion::default(),
            approach: Approach::default(),
            order: Order::default(),
            round: Round::default(),
            impulses: RowImpulses::default(),
            after: RowVelocities::default(),
            change: Speeds::default(),
            delay: RowImpulseTimes::default(),
            struck: Vec::new(),
            n_rounds: 0,
        }
    }

    /// Forgets the last step.
    pub fn clear(&mut self) {
        self.struck.clear();
        self.n_rounds = 0;
    }

    /// Whether anything has struck in this step.
    pub fn has_struck(&self) -> bool {
        !self.struck.is_empty()
    }

    /// What has struck.
    pub fn struck(&self) -> impl Iterator<Item = &ContactConstraint> {
        self.struck.iter().map(|x| &x.constraint)
    }

    /// The same in the order of names.
    pub fn sorted(&mut self) -> &[ImpactRecord] {
        self.struck.sort_unstable_by_key(|x| (x.constraint.id, x.order));
        &self.struck
    }

    /// Lets strike what strikes first, and changes `now` by it; whether anything did. Then others may strike: what may push is to be found anew.
    pub fn round(
        &mut self,
        scheme: Scheme,
        m: &mut Mechanism<'_>,
        over: &Interval<'_>,
        found: &mut Constraints,
        now: &mut Moving,
        (report, unsolved): (&mut StepReport, &mut Unsolved),
    ) -> Result<bool, StepError> {
        let is_elastic = found.list.iter().any(|t| t.restitution != 0.0);
        if !is_elastic || self.n_rounds == MAX_ROUNDS || !self.find_strikers(scheme, m, over.h, found, now) {
            return Ok(false);
        }
        self.n_rounds += 1;
        self.find_impulses(m, over, found, (&mut *report, unsolved))?;
        self.note(now, report);
        self.apply(m, found, now);
        Ok(true)
    }

    /// Gathers contacts that strike, and closed ones with them; whether any strikes.
    fn find_strikers(
        &mut self,
        scheme: Scheme,
        m: &Mechanism<'_>,
        h: f64,
        found: &mut Constraints,
        now: &Moving,
    ) -> bool {
        found.start_velocities(m, now, &mut self.approach.start);
        found.end_velocities(m, now, &mut self.approach.end);
        found.displacements(m, &now.shift, &mut self.approach.shift);
        let Self { round, order, .. } = self;
        round.members.clear();
        order.candidates.clear();
        let mut row = 0;
        for t in &found.list {
            let at = row;
            row += t.n_rows();
            let candidate = self.approach.candidate(scheme, m, h, found, (t, at));
            let Some(mut candidate) = candidate else { continue };
            let strikes = self.struck.iter().filter(|x| x.constraint.id == t.id && x.strikes);
            if candidate.strikes() && strikes.count() >= MOST_STRIKES {
                candidate.time = f64::NAN;
            }
            if candidate.strikes() || t.is_closed() {
                round.members.push(*t);
                order.candidates.push(candidate);
            }
        }
        if !order.candidates.iter().any(Candidate::strikes) {
            return false;
        }
        order.find_first(&round.members, m.system, &found.root);
        round.keep_first(&order.candidates, &self.approach, h, scheme.rules().elapsed());
        true
    }

    /// Impulses of the round.
    fn find_impulses(
        &mut self,
        m: &mut Mechanism<'_>,
        over: &Interval<'_>,
        found: &mut Constraints,
        (report, unsolved): (&mut StepReport, &mut Unsolved),
    ) -> Result<(), StepError> {
        let failed = |error| contact_failed(over.from.time, "a strike", error);
        found.assemble_some(m, &self.round.members)?;
        let is_newton = self.law == Restitution::Newton;
        self.solve(m.system, found, is_newton).map_err(failed)?;
        if !self.solution.status.is_solved() && is_newton {
            // Friction may jam a mechanism so that no impulses part it with the velocity that is asked for. Compression has a solution.
            report.no_rebound_count += 1;
            self.solve(m.system, found, false).map_err(failed)?;
        }
        report.note_solution(&self.solution);
        unsolved.note(&self.solution, &self.problem);
        self.impulses.buffer().clone_from(&self.solution.r);
        if !is_newton {
            let Self { law, expansion, solver, problem, solution, round, impulses, .. } = self;
            expansion.compute(*law, solver, (problem, solution), round, report).map_err(failed)?;
            impulses.add(&expansion.impulses);
            unsolved.note(&expansion.solution, &expansion.problem);
        }
        let Self { after, round, problem, impulses, .. } = self;
        after.reset(round.before.len());
        problem.delassus().apply(impulses, after);
        after.iter_mut().zip(&*round.before).for_each(|(u, q)| *u += q);
        Ok(())
    }

    /// One problem of the round: with Newton's rebound or, in compression, without.
    fn solve(
        &mut self,
        system: &System,
        found: &mut Constraints,
        rebounds: bool,
    ) -> Result<(), crate::contact::ContactError> {
        let Self { problem, round, .. } = self;
        problem.refill(|delassus, q, cones| {
            found.write_delassus(system, delassus);
            write_cones(system, &round.members, cones);
            q.clear();
            q.extend_from_slice(&round.before);
            for (c, t) in round.members.iter().enumerate().filter(|_| rebounds) {
                let at = found.offsets()[c];
                q[at] += t.newton_coefficient(round.times[c].is_finite(), round.before[at]) * round.before[at];
            }
        })?;
        self.solver.solve_into(&self.problem, Start::Cold, &mut self.solution)
    }

    /// Remembers what struck, and its energies.
    fn note(&mut self, now: &mut Moving, report: &mut StepReport) {
        let Self { problem, round, impulses, after, struck, .. } = self;
        let offsets = problem.offsets();
        let (mut taken, mut moved) = (0.0, 0.0);
        for (c, t) in round.members.iter().enumerate() {
            for (d, i) in (offsets[c]..offsets[c + 1]).enumerate() {
                report.contact_work_scale += 0.5 * impulses[i] * (after[i] - round.before[i]);
                taken -= 0.5 * impulses[i] * (round.before[i] + after[i]);
                moved -= impulses[i] * t.drift_along(d);
            }
            let spread = |x: &[f64]| t.rows.spread(&x[offsets[c]..offsets[c + 1]]);
            struck.push(ImpactRecord {
                constraint: *t,
                impulse: spread(impulses),
                before: spread(&round.before),
                velocity: spread(after),
                strikes: round.times[c].is_finite(),
                order: struck.len(),
            });
        }
        now.energy.dissipated += taken;
        now.energy.work += moved;
        report.impact_energy_gain += (-taken).max(0.0);
    }

    /// Changes speeds, and the displacement that goes with them.
    fn apply(&mut self, m: &Mechanism<'_>, found: &mut Constraints, now: &mut Moving) {
        self.change.reset(now.end.len());
        found.respond(m, &self.impulses, &mut self.change);
        now.start.add(&self.change);
        now.end.add(&self.change);
        self.find_delay();
        found.displace(m, &self.delay, &mut now.shift);
    }

    /// −τ p: what the impulses have not moved before they acted. A closed contact acts when those strike that it shares a body with.
    fn find_delay(&mut self) {
        let Self { problem, round, impulses, delay, .. } = self;
        let offsets = problem.offsets();
        delay.reset(problem.n_rows());
        let Some(w) = problem.delassus().as_blocks(offsets) else { return };
        for c in 0..round.members.len() {
            let mut time = round.times[c];
            if !time.is_finite() {
                let (mut sum, mut weight) = (0.0, 0.0);
                for &q in w.columns(c).iter().filter(|q| round.times[**q].is_finite()) {
                    let p = impulses[offsets[q]];
                    (sum, weight) = (sum + p * round.times[q], weight + p);
                }
                time = if weight > 0.0 { sum / weight } else { 0.0 };
            }
            for i in offsets[c]..offsets[c + 1] {
                delay[i] = -time * impulses[i];
            }
        }
    }
}

impl Approach {
    /// Whether and when a constraint, whose first row is given, strikes; none where it has no gap.
    fn candidate(
        &self,
        scheme: Scheme,
        m: &Mechanism<'_>,
        h: f64,
        found: &Constraints,
        (t, row): (&ContactConstraint, usize),
    ) -> Option<Candidate> {
        if !t.is_unilateral() {
            return None;
        }
        let (start, end) = (self.start[row], self.end[row]);
        let left = t.gap + self.shift[row];
        let closes = !t.is_closed() && left + h * end < 0.0;
        let time = if closes {
            (left / -end).clamp(0.0, h)
        } else if scheme.rules().has_passed(left, t.rounding, start) {
            (left / -start).max(-h)
        } else {
            0.0
        };
        let share = time / h + scheme.rules().elapsed();
        let approach = start + share * (end - start);
        let rebound = -t.restitution * approach;
        // What the step's forces give to one of the two bodies.
        let given = match t.place {
            Attachment::Links(links) => links.iter().zip(&t.points).fold(0.0, |largest: f64, (link, point)| {
                let Some(l) = *link else { return largest };
                let arm = point - m.w.kinematics.origin[l];
                largest.max(found.given(l).shifted(&arm).linear.norm())
            }),
            Attachment::Speed { .. } | Attachment::Cut { .. } => (end - start).abs(),
        };
        let strikes = (closes || t.is_closed()) && rebound > given;
        Some(Candidate { time: if strikes { time } else { f64::NAN }, left, end, row, is_first: false })
    }
}

impl ContactConstraint {
    /// The coefficient e of Newton's law 0 ≤ u⁺ + e u⁻ ⊥ p ≥ 0 for a member of a round: its own where it strikes, none where it is closed and closing, and one
    /// where it is opening. Then p (u⁺ + u⁻) ≤ 0 for each of them.
    fn newton_coefficient(&self, strikes: bool, before: f64) -> f64 {
        match (strikes, before > 0.0) {
            (true, _) => self.restitution,
            (false, true) => 1.0,
            (false, false) => 0.0,
        }
    }
}

impl Round {
    /// Keeps the members that strike first, and finds their velocities at that time. `elapsed` is the share of the step's forces that have acted where times
    /// are counted from.
    fn keep_first(&mut self, candidates: &[Candidate], approach: &Approach, h: f64, elapsed: f64) {
        let Self { members, times, before } = self;
        let before = before.buffer();
        times.clear();
        before.clear();
        let mut candidates = candidates.iter();
        members.retain(|t| {
            let Some(c) = candidates.next().filter(|c| c.is_first) else { return false };
            let share = if c.strikes() { c.time / h + elapsed } else { 0.0 };
            times.push(c.time);
            let rows = c.row..c.row + t.n_rows();
            let (start, end) = (&approach.start, &approach.end);
            before.extend(rows.map(|i| start[i] + share * (end[i] - start[i])));
            true
        });
    }
}
