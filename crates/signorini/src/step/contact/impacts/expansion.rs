//! Expansion: what compression has stored is given back, by Poisson's hypothesis or an energetic one.

use super::super::constraint::ContactConstraint;
use super::Round;
use crate::contact::cone::MAX_TANGENT;
use crate::contact::delassus::{BlockMatrix, Delassus};
use crate::contact::solve::Auto;
use crate::contact::{Cone, ContactError, ContactProblem, ContactSolver, Solution, Start, Unit};
use crate::scene::Restitution;
use crate::step::StepReport;
use crate::step::contact::quantity::{RowImpulses, RowVelocities};

/// Halvings of the interval in which the scale of an energy-limited rebound lies.
const HALVINGS: usize = 60;

/// Slip, over the velocity before the strike, below which compression has ended in rest: what its tolerance leaves.
const STILL: f64 = 1e-9;

/// Scratch of expansion, and its result.
#[derive(Default)]
pub(super) struct Expansion {
    pub problem: ContactProblem,
    pub solution: Solution,
    /// Impulses of expansion.
    pub impulses: RowImpulses,
    /// Velocities with those that are given.
    free: RowVelocities,
    cones: Vec<Cone>,
    /// The operator, every row a block of its own.
    w: BlockMatrix,
    dense: Vec<f64>,
    rows: Vec<usize>,
}

/// The end of compression.
struct Compression<'a> {
    round: &'a Round,
    laws: &'a [Cone],
    offsets: &'a [usize],
    p: &'a [f64],
    u: &'a [f64],
}

impl Expansion {
    /// Finds the impulses of expansion after a solved compression.
    pub fn compute(
        &mut self,
        law: Restitution,
        solver: &mut Auto,
        (problem, solution): (&ContactProblem, &Solution),
        round: &Round,
        report: &mut StepReport,
    ) -> Result<(), ContactError> {
        self.set_operator(problem);
        let end =
            Compression { round, laws: problem.cones(), offsets: problem.offsets(), p: &solution.r, u: &solution.u };
        let allowed = end.allowed_gain();
        // Twice the rounding of a sum over all rows.
        let slack = 1.0 + 1e-13 * end.p.len() as f64;
        let gain = self.expand_by(1.0, &end, solver, report)?;
        if law == Restitution::Energetic && gain > allowed * slack {
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..HALVINGS {
                let middle = 0.5 * (low + high);
                let gain = self.expand_by(middle, &end, solver, report)?;
                if gain > allowed { high = middle } else { low = middle }
            }
            self.expand_by(low, &end, solver, report)?;
        }
        Ok(())
    }

    /// Expansion with a share of Poisson's impulses; the kinetic energy that it adds.
    fn expand_by(
        &mut self,
        share: f64,
        end: &Compression<'_>,
        solver: &mut Auto,
        report: &mut StepReport,
    ) -> Result<f64, ContactError> {
        let Self { problem, solution, impulses, free, cones, w, .. } = self;
        impulses.reset(end.p.len());
        end.write_laws(share, impulses, cones);
        free.reset(end.p.len());
        w.apply(impulses, free);
        free.iter_mut().zip(end.u).for_each(|(f, u)| *f += u);
        problem.refill(|delassus, q, laws| {
            delassus.clone_from(w);
            q.clear();
            q.extend_from_slice(free);
            laws.clone_from(cones);
        })?;
        solver.solve_into(problem, Start::Cold, solution)?;
        report.note_solution(solution);
        impulses.iter_mut().zip(&solution.r).for_each(|(t, r)| *t += r);
        Ok(impulses.iter().zip(end.u.iter().zip(&solution.u)).map(|(r, (a, b))| 0.5 * r * (a + b)).sum())
    }

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

/// Whether a contact slides or turns after compression: lengths beside lengths before, angles beside angles.
fn slides(t: &ContactConstraint, after: &[f64], before: &[f64]) -> bool {
    Unit::ALL.into_iter().any(|unit| {
        let rows = || (0..t.n_rows()).filter(|k| t.rows.unit(*k) == unit);
        let slip = rows().filter(|k| *k > 0).fold(0.0_f64, |slip, k| slip.hypot(after[k]));
        slip > STILL * rows().fold(0.0_f64, |m, k| m.max(before[k].abs()))
    })
}

impl Compression<'_> {
    /// Kinetic energy that the energetic law gives back at most: what normal impulses have stored, and no more than the mechanism has lost.
    fn allowed_gain(&self) -> f64 {
        let Self { round, offsets, p, u, .. } = self;
        let before = &round.before;
        let (mut stored, mut lost) = (0.0, 0.0);
        for (c, t) in round.members.iter().enumerate() {
            let i = offsets[c];
            stored += t.restitution * t.restitution * (-0.5 * p[i] * (before[i] + u[i])).max(0.0);
            lost -= (i..offsets[c + 1]).map(|i| 0.5 * p[i] * (before[i] + u[i])).sum::<f64>();
        }
        stored.min(lost.max(0.0))
    }

    /// A share of Poisson's impulses, and the laws of the rest: gaps stay closed, friction stays within a box in its section.
    fn write_laws(&self, share: f64, given: &mut [f64], cones: &mut Vec<Cone>) {
        let Self { round, offsets, p, u, .. } = self;
        cones.clear();
        for (c, t) in round.members.iter().enumerate() {
            let i = offsets[c];
            // Rounding may leave a push below zero.
            given[i] = share * t.restitution * p[i].max(0.0);
            cones.push(Cone::Unilateral);
            let Cone::Friction(section) = &self.laws[c] else { continue };
            let rows = i + 1..offsets[c + 1];
            let all = i..offsets[c + 1];
            let slides = slides(t, &u[all.clone()], &round.before[all]);
            let (still, mut half) = ([0.0; MAX_TANGENT], [0.0; MAX_TANGENT]);
            let half = &mut half[..rows.len()];
            section.box_at(given[i], if slides { &p[rows] } else { &still[..half.len()] }, half);
            cones.extend(half.iter().map(|x| Cone::Interval { lower: -x, upper: *x }));
        }
    }
}
