//! Strikes: contacts with restitution that close within a step.
//!
//! **Problem.** Bodies that meet with a velocity must part with one, by Newton's, Poisson's or an energetic law, in whatever mechanism.
//!
//! **Method.** A contact with restitution e that closes in the step, after the time τ by its gap and velocity, strikes at once: with
//! u⁻ its velocity then, all contacts that strike or are closed find impulses p, u⁺ = u⁻ + G p, under one of three laws. Strikes of one
//! mechanism, or of several that closed contacts and loops tie together, happen in the order of their times: the first of them, and those that
//! have closed by then, in one round, others in the next, with the velocities that it leaves.
//!
//! * *Newton* [paper 000, eq. 16]: 0 ≤ u_n⁺ + e u_n⁻ ⊥ p_n ≥ 0 where it strikes, 0 ≤ u_n⁺ ⊥ p_n ≥ 0 where it was closed; Coulomb. The paper
//!   spreads this over two steps, approach in one and rebound in the next; here velocities before the strike are at hand for every contact.
//! * *Poisson*: compression, 0 ≤ u_n ⊥ p_n ≥ 0 with Coulomb; then expansion gives back P = e p_n, with friction of at most μ P
//!   (within a box in its section, a corner of it in the direction of compression's friction), and whatever
//!   keeps the other contacts closed.
//! * *Energetic*: Poisson's, with P scaled down where expansion would do more work than E = Σ e² W, W = −½ p_n u_n⁻ ≥ 0 the work that compression
//!   stored in the normal direction of each contact (Stronge's coefficient for one contact that does not reverse its slip). Compression takes
//!   L = ½ pᵀG p − pᵀu ≥ 0 from the mechanism, since impulses do no work on u; expansion gives at most min(E, L). So kinetic energy never rises.
//!
//! Impulses act from τ on, so the step's displacement h v⁺ is shortened by τ Δv. After Moreau times are counted from the middle of the step, and what overlaps there has
//! struck on the way from the last middle: τ = gap/−u < 0, and the displacement is longer. A contact strikes once per step; strikes that follow from
//! strikes (Newton's cradle) happen in the same step, round after round. A rebound that is slower than the velocity which the step's own forces
//! give to one of the two bodies is too short for the step to resolve, and the contact closes for good: rest is rest.
//!
//! **Cost.** One contact problem per round (two for Poisson; some dozen where energy limits the rebound).
//!
//! **Fails when** a problem is not solved: the report says so. Where friction jams a mechanism, Newton's law may have no solution: then the strike
//! is one without rebound, and the report counts it.
//!
//! **Checked by** `tests/contact_analytic.rs`, `tests/contact_references.rs`.

use super::{Attachment, Balance, ContactConstraint, ContactStepper, contact_failed, write_cones};
use crate::contact::cone::MAX_TANGENT;
use crate::contact::delassus::{BlockMatrix, Delassus};
use crate::contact::solve::{Auto, AutoOptions};
use crate::contact::{Cone, ContactProblem, ContactSolver, Solution, Start};
use crate::dynamics::System;
use crate::scene::Restitution;
use crate::spatial::Vec3;
use crate::step::{Simulation, StepError, StepReport};

/// Most rounds of strikes in one step. What strikes after that closes without restitution.
const MAX_ROUNDS: usize = 200;

/// Halvings of the interval in which the scale of an energy-limited rebound lies.
const HALVINGS: usize = 60;

/// What struck in a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct ImpactRecord {
    pub touching: ContactConstraint,
    pub impulse: [f64; 3],
    pub velocity: [f64; 3],
    /// Whether it struck; else it was closed and took part.
    pub strikes: bool,
    /// Its place among all that struck in the step.
    pub order: usize,
}

impl ImpactRecord {
    /// Adds its impulse to one in the directions that the contact has now.
    pub fn add_to(&self, t: &ContactConstraint, mut impulse: [f64; 3]) -> [f64; 3] {
        if t.normal == self.touching.normal {
            impulse.iter_mut().zip(self.impulse).for_each(|(sum, p)| *sum += p);
            return impulse;
        }
        let vector = self.touching.directions().iter().zip(self.impulse).map(|(d, p)| d * p).sum::<Vec3>();
        impulse.iter_mut().zip(t.directions()).for_each(|(sum, d)| *sum += d.dot(&vector));
        impulse
    }
}

/// Scratch of strikes.
pub(crate) struct ImpactSolver {
    solver: Auto,
    problem: ContactProblem,
    solution: Solution,
    expansion: ContactProblem,
    extra: Solution,
    /// Contacts that strike or are closed.
    members: Vec<ContactConstraint>,
    /// Time of the strike; not finite for those that were closed.
    times: Vec<f64>,
    order: Order,
    /// Velocities before.
    before: Vec<f64>,
    impulses: Vec<f64>,
    after: Vec<f64>,
    change: Vec<f64>,
    /// All that struck in this step.
    pub struck: Vec<ImpactRecord>,
    /// Taken while it is used.
    expanding: Option<Box<Expanding>>,
}

/// A contact that may strike in a round, or is closed.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    /// Not finite where it is closed.
    time: f64,
    /// Its gap by now is `left` + time × `free`.
    left: f64,
    free: f64,
    row: usize,
    is_first: bool,
}

/// What strikes first.
#[derive(Default)]
struct Order {
    candidates: Vec<Candidate>,
    /// Sets of mechanisms that are tied together, and the time of the first strike in each.
    group: Vec<usize>,
    first: Vec<f64>,
}

/// Scratch of expansion.
#[derive(Default)]
struct Expanding {
    /// Impulses and velocities at the end of compression.
    p: Vec<f64>,
    u: Vec<f64>,
    /// Impulses of expansion, and velocities with those that are given.
    total: Vec<f64>,
    free: Vec<f64>,
    cones: Vec<Cone>,
    /// The operator, every row a block of its own.
    w: BlockMatrix,
    dense: Vec<f64>,
    rows: Vec<usize>,
}

impl ImpactSolver {
    pub fn new(tolerance: f64) -> Self {
        Self {
            solver: Auto::new(AutoOptions { tolerance, ..AutoOptions::default() }),
            problem: ContactProblem::default(),
            solution: Solution::default(),
            expansion: ContactProblem::default(),
            extra: Solution::default(),
            members: Vec::new(),
            times: Vec::new(),
            order: Order::default(),
            before: Vec::new(),
            impulses: Vec::new(),
            after: Vec::new(),
            change: Vec::new(),
            struck: Vec::new(),
            expanding: None,
        }
    }
}

impl Simulation {
    /// Finds what may push, and lets strike what strikes, until nothing does.
    pub(super) fn strike_all(
        &mut self,
        h: f64,
        s: &mut ContactStepper,
        balance: &mut Balance,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        s.strike.struck.clear();
        for _ in 0..MAX_ROUNDS {
            self.find_touching(h, s);
            if s.touching.iter().all(|t| t.restitution == 0.0) || !self.find_strikers(h, s) {
                return Ok(());
            }
            self.strike(s, balance, report)?;
        }
        self.find_touching(h, s);
        Ok(())
    }

    /// Gathers contacts that strike, and closed ones with them; whether any strikes.
    fn find_strikers(&mut self, h: f64, s: &mut ContactStepper) -> bool {
        let (system, w) = (&self.system, &self.work);
        s.rows.velocities(system, &s.touching, &self.next.v, w, &mut s.u_start);
        s.rows.velocities(system, &s.touching, &s.free, w, &mut s.u_free);
        s.rows.velocities(system, &s.touching, &s.shift, w, &mut s.u_end);
        s.middle.clear();
        s.middle.extend(s.free.iter().zip(&self.next.v).map(|(free, v)| free - v));
        w.kinematics.find_twists(&system.tree, &s.middle, &mut s.rows.twists);
        let k = &mut s.strike;
        k.members.clear();
        k.times.clear();
        k.before.clear();
        k.order.candidates.clear();
        let mut any = false;
        let mut row = 0;
        // Share of the step's forces that have acted where times are counted from.
        let since = if s.is_moreau { 0.5 } else { 0.0 };
        for t in &s.touching {
            let (at, n) = (row, t.n_rows());
            row += n;
            if !t.is_unilateral() {
                continue;
            }
            let (start, free) = (s.u_start[at], s.u_free[at]);
            let left = t.gap + s.u_end[at];
            let closes = !t.is_closed() && left + h * free < 0.0;
            // Bodies came from the last middle at the speeds of the start: what overlaps has struck on that way.
            let has_passed = s.is_moreau && left < -t.rounding && start < 0.0;
            let time = match (closes, has_passed) {
                (true, _) => (left / -free).clamp(0.0, h),
                (false, true) => (left / -start).max(-h),
                (false, false) => 0.0,
            };
            let share = time / h + since;
            let approach = start + share * (free - start);
            let rebound = -t.restitution * approach;
            let is_new = !k.struck.iter().any(|x| x.touching.id == t.id && x.strikes);
            let given = match t.place {
                Attachment::Links(links) => links.iter().flatten().fold(0.0, |m: f64, &l| {
                    let arm = t.at - w.kinematics.origin[l];
                    m.max(s.rows.twists[l].shifted(&arm).linear.norm())
                }),
                Attachment::Speed { .. } | Attachment::Cut { .. } => (free - start).abs(),
            };
            let strikes = (closes || t.is_closed()) && rebound > given && is_new;
            if strikes || t.is_closed() {
                k.members.push(*t);
                k.order.candidates.push(Candidate {
                    time: if strikes { time } else { f64::NAN },
                    left,
                    free,
                    row: at,
                    is_first: false,
                });
                any |= strikes;
            }
        }
        if any {
            k.order.find_first(&k.members, system, &s.root);
            let mut candidates = k.order.candidates.iter();
            let (times, before) = (&mut k.times, &mut k.before);
            k.members.retain(|t| {
                let Some(c) = candidates.next().filter(|c| c.is_first) else { return false };
                let share = if c.time.is_finite() { c.time / h + since } else { 0.0 };
                times.push(c.time);
                let rows = c.row..c.row + t.n_rows();
                before.extend(rows.map(|i| s.u_start[i] + share * (s.u_free[i] - s.u_start[i])));
                true
            });
        }
        any
    }

    /// One round: everything that strikes, at once.
    fn strike(
        &mut self,
        s: &mut ContactStepper,
        balance: &mut Balance,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        let system = &self.system;
        let ContactStepper { rows, strike: k, law, .. } = s;
        rows.assemble(system, &k.members, &mut self.work)?;
        let w = &self.work;
        let time = self.state.time;
        let failed = |error| contact_failed(time, "a strike", error);
        let posed = k.problem.refill(|delassus, q, cones| {
            rows.write_delassus(system, delassus);
            write_cones(system, &k.members, cones);
            q.clone_from(&k.before);
            if *law == Restitution::Newton {
                for (c, t) in k.members.iter().enumerate().filter(|(c, _)| k.times[*c].is_finite()) {
                    let at = rows.offsets()[c];
                    q[at] += t.restitution * k.before[at];
                }
            }
        });
        posed.map_err(failed)?;
        k.solver.solve_into(&k.problem, Start::Cold, &mut k.solution).map_err(failed)?;
        if !k.solution.status.is_solved() && *law == Restitution::Newton {
            // Friction may jam a mechanism so that no impulses part it with the velocity that is asked for. Compression has a solution.
            report.no_rebound_count += 1;
            let refilled = k.problem.refill(|delassus, q, cones| {
                rows.write_delassus(system, delassus);
                write_cones(system, &k.members, cones);
                q.clone_from(&k.before);
            });
            refilled.map_err(failed)?;
            k.solver.solve_into(&k.problem, Start::Cold, &mut k.solution).map_err(failed)?;
        }
        report.note_solution(&k.solution);
        if !k.solution.status.is_solved() && s.unsolved.is_none() {
            s.unsolved = Some(k.problem.duplicate());
        }
        k.impulses.clone_from(&k.solution.r);
        if *law != Restitution::Newton {
            k.expand(*law, report).map_err(failed)?;
        }
        if !k.extra.status.is_solved() && *law != Restitution::Newton && s.unsolved.is_none() {
            s.unsolved = Some(k.expansion.duplicate());
        }
        k.after.clear();
        k.after.resize(k.before.len(), 0.0);
        k.problem.delassus().apply(&k.impulses, &mut k.after);
        k.after.iter_mut().zip(&k.before).for_each(|(u, q)| *u += q);

        let offsets = k.problem.offsets();
        let (mut taken, mut moved) = (0.0, 0.0);
        for (c, t) in k.members.iter().enumerate() {
            for (d, i) in (offsets[c]..offsets[c + 1]).enumerate() {
                report.contact_work_scale += 0.5 * k.impulses[i] * (k.after[i] - k.before[i]);
                taken -= 0.5 * k.impulses[i] * (k.before[i] + k.after[i]);
                moved -= k.impulses[i] * t.drift_along(d);
            }
            let three = |x: &[f64]| std::array::from_fn(|d| if d < t.n_rows() { x[offsets[c] + d] } else { 0.0 });
            let (impulse, velocity) = (three(&k.impulses), three(&k.after));
            let (strikes, order) = (k.times[c].is_finite(), k.struck.len());
            k.struck.push(ImpactRecord { touching: *t, impulse, velocity, strikes, order });
        }
        balance.dissipated += taken;
        balance.work += moved;
        report.impact_energy_gain += (-taken).max(0.0);

        k.change.clear();
        k.change.resize(s.free.len(), 0.0);
        rows.respond(system, w, &k.impulses, &mut k.change);
        for (v, d) in self.next.v.iter_mut().zip(&k.change) {
            *v += d;
        }
        for (v, d) in s.free.iter_mut().zip(&k.change) {
            *v += d;
        }
        k.impact_time_correction();
        rows.respond(system, w, &k.after, &mut s.shift);
        Ok(())
    }
}

impl Order {
    /// Keeps the first strikes of all that are tied together, and all that is closed.
    fn find_first(&mut self, members: &[ContactConstraint], system: &System, root: &[usize]) {
        let Self { candidates, group, first } = self;
        group.clear();
        group.extend(0..root.len());
        first.clear();
        first.resize(root.len(), f64::INFINITY);
        for cut in &system.cuts {
            unite(group, [cut.parent, cut.child].map(|l| l.map(|l| root[l])));
        }
        for (t, _) in members.iter().zip(&*candidates).filter(|(_, c)| c.time.is_nan()) {
            unite(group, t.links(system).map(|l| l.map(|l| root[l])));
        }
        let groups =
            |t: &ContactConstraint, group: &mut [usize]| t.links(system).map(|l| l.map(|l| find(group, root[l])));
        for (t, c) in members.iter().zip(&*candidates).filter(|(_, c)| c.time.is_finite()) {
            for g in groups(t, group).into_iter().flatten() {
                first[g] = c.time.min(first[g]);
            }
        }
        for (t, c) in members.iter().zip(candidates) {
            // What has closed by the time of the first strike strikes with it.
            let closed_at = |time: f64| c.time <= time || c.left + time * c.free <= t.rounding;
            c.is_first = c.time.is_nan() || groups(t, group).into_iter().flatten().all(|g| closed_at(first[g]));
        }
    }
}

/// Representative of a set.
fn find(group: &mut [usize], mut i: usize) -> usize {
    while group[i] != i {
        group[i] = group[group[i]];
        i = group[i];
    }
    i
}

/// Makes two sets one.
fn unite(group: &mut [usize], ends: [Option<usize>; 2]) {
    if let [Some(a), Some(b)] = ends {
        let (a, b) = (find(group, a), find(group, b));
        group[a.max(b)] = a.min(b);
    }
}

impl ImpactSolver {
    /// Leaves −τ p in `after`: what the impulses have not moved before they acted. A closed contact acts when those strike that it
    /// shares a body with.
    fn impact_time_correction(&mut self) {
        let offsets = self.problem.offsets();
        let Some(w) = self.problem.delassus().as_blocks(offsets) else { return };
        for c in 0..self.members.len() {
            let mut time = self.times[c];
            if !time.is_finite() {
                let (mut sum, mut weight) = (0.0, 0.0);
                for &q in w.columns(c).iter().filter(|q| self.times[**q].is_finite()) {
                    let p = self.impulses[offsets[q]];
                    (sum, weight) = (sum + p * self.times[q], weight + p);
                }
                time = if weight > 0.0 { sum / weight } else { 0.0 };
            }
            for i in offsets[c]..offsets[c + 1] {
                self.after[i] = -time * self.impulses[i];
            }
        }
    }

    /// Adds to the impulses of compression those of expansion.
    fn expand(&mut self, law: Restitution, report: &mut StepReport) -> Result<(), crate::contact::ContactError> {
        let mut e = self.expanding.take().unwrap_or_default();
        e.p.clone_from(&self.impulses);
        e.u.clone_from(&self.solution.u);
        e.set_operator(&self.problem);
        let outcome = self.expand_within(law, &mut e, report);
        self.impulses.iter_mut().zip(&e.total).for_each(|(p, r)| *p += r);
        self.expanding = Some(e);
        outcome
    }

    /// Leaves the impulses of expansion in `e.total`.
    fn expand_within(
        &mut self,
        law: Restitution,
        e: &mut Expanding,
        report: &mut StepReport,
    ) -> Result<(), crate::contact::ContactError> {
        let offsets = self.problem.offsets();
        let (q, p, u) = (&self.before, &e.p, &e.u);
        let (mut stored, mut lost) = (0.0, 0.0);
        for (c, t) in self.members.iter().enumerate() {
            let i = offsets[c];
            stored += t.restitution * t.restitution * (-0.5 * p[i] * (q[i] + u[i])).max(0.0);
            lost -= (i..offsets[c + 1]).map(|i| 0.5 * p[i] * (q[i] + u[i])).sum::<f64>();
        }
        let allowed = stored.min(lost.max(0.0));
        // Twice the rounding of a sum over all rows.
        let slack = 1.0 + 1e-13 * p.len() as f64;
        let gain = self.expand_by(1.0, e, report)?;
        if law == Restitution::Energetic && gain > allowed * slack {
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..HALVINGS {
                let middle = 0.5 * (low + high);
                let gain = self.expand_by(middle, e, report)?;
                if gain > allowed { high = middle } else { low = middle }
            }
            self.expand_by(low, e, report)?;
        }
        Ok(())
    }

    /// Expansion with a share of Poisson's impulses; the impulses, and the kinetic energy that they add.
    fn expand_by(
        &mut self,
        share: f64,
        e: &mut Expanding,
        report: &mut StepReport,
    ) -> Result<f64, crate::contact::ContactError> {
        let offsets = self.problem.offsets();
        let Expanding { p, u, total, free, cones, w, .. } = e;
        total.clear();
        total.resize(p.len(), 0.0);
        cones.clear();
        for (c, t) in self.members.iter().enumerate() {
            let i = offsets[c];
            total[i] = share * t.restitution * p[i];
            cones.push(Cone::Unilateral);
            if let Cone::Friction(section) = &self.problem.cones()[c] {
                let rows = i + 1..offsets[c + 1];
                let slides = u[i + 1].hypot(u[i + 2])
                    > 1e-9 * self.before[i..i + 3].iter().fold(0.0, |m: f64, x| m.max(x.abs()));
                let (still, mut half) = ([0.0; MAX_TANGENT], [0.0; MAX_TANGENT]);
                let half = &mut half[..rows.len()];
                section.box_at(total[i], if slides { &p[rows] } else { &still[..half.len()] }, half);
                cones.extend(half.iter().map(|x| Cone::Interval { lower: -x, upper: *x }));
            }
        }
        free.clear();
        free.resize(p.len(), 0.0);
        w.apply(total, free);
        free.iter_mut().zip(&*u).for_each(|(f, u)| *f += u);
        self.expansion.refill(|delassus, q, laws| {
            delassus.clone_from(w);
            q.clone_from(free);
            laws.clone_from(cones);
        })?;
        self.solver.solve_into(&self.expansion, Start::Cold, &mut self.extra)?;
        report.note_solution(&self.extra);
        total.iter_mut().zip(&self.extra.r).for_each(|(t, r)| *t += r);
        Ok(total.iter().zip(u.iter().zip(&self.extra.u)).map(|(r, (a, b))| 0.5 * r * (a + b)).sum())
    }
}

impl Expanding {
    fn set_operator(&mut self, problem: &ContactProblem) {
        let n = problem.n_rows();
        match problem.delassus().as_blocks(problem.offsets()) {
            Some(w) => w.to_dense(&mut self.dense),
            None => self.dense.clear(),
        }
        self.dense.resize(n * n, 0.0);
        self.rows.clear();
        self.rows.extend(0..=n);
        self.w.set_from_dense(&self.rows, &self.dense);
    }
}
