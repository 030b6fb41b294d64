//! Where the search for impulses starts: at those of the last step, or where the last two lead.
//!
//! Bodies that roll and slide change their impulses smoothly, and 2 r − r′, r′ of the step before, is off by O(h²) where r is off by O(h): on a legged
//! machine that has fallen over the residual of the start is a tenth. Where contacts come and go it is no better, so that both are judged unless it is close,
//! and with many contacts something always does.

use super::constraint::ContactConstraint;
use super::search::joint_of;
use crate::contact::cone::MAX_DIM;
use crate::contact::{ContactProblem, ContactSolver, RowValues, Solution, Start, Unit};
use crate::spatial::Vec3;
use crate::state::ContactMemory;

/// With more contacts impulses are not extrapolated.
const MOST_CONTACTS: usize = 24;

/// Share of the impulses from which on they change, and the residual from which on the last ones are then not looked at.
const CHANGE: f64 = 1e-6;
const CLOSE: f64 = 1e-3;

/// Both starts, row by row.
#[derive(Debug, Default)]
pub(super) struct WarmStart {
    last: Vec<f64>,
    ahead: Vec<f64>,
    is_smooth: bool,
    /// Whether impulses change by more than rounding.
    is_changing: bool,
}

impl WarmStart {
    /// Reads what is remembered of all that may push.
    pub fn read(&mut self, memory: &[ContactMemory], touching: &[ContactConstraint]) {
        self.last.clear();
        self.ahead.clear();
        // One contact alone is solved at once.
        self.is_smooth = (2..=MOST_CONTACTS).contains(&touching.len());
        // Contacts are compared among each other, forces with forces and moments with moments; rows of joints each with itself, since they
        // have units of their own.
        let (mut largest, mut change) = ([0.0_f64; 2], [0.0_f64; 2]);
        self.is_changing = false;
        let mut known = memory.iter().peekable();
        for t in touching {
            while known.next_if(|m| m.id < t.id).is_some() {}
            let memory = known.peek().filter(|m| m.id == t.id);
            let nothing = RowValues::new(&[0.0; MAX_DIM][..t.n_rows()]);
            let (last, before) =
                memory.map_or((nothing, nothing), |m| (m.in_tangents(t, &m.impulse), m.in_tangents(t, &m.before)));
            let (mut ahead, mut ahead_change) = (last, nothing);
            for k in 0..t.n_rows() {
                ahead[k] = last[k] + (last[k] - before[k]);
                ahead_change[k] = ahead[k] - last[k];
            }
            // Who starts or ends to push is not foretold.
            self.is_smooth &= !t.is_unilateral() || (last[0] > 0.0) == (before[0] > 0.0) && ahead[0] >= 0.0;
            for (u, unit) in Unit::ALL.into_iter().enumerate() {
                let rows = || (0..t.n_rows()).filter(|k| t.rows.unit(*k) == unit);
                let size = |x: &RowValues| rows().fold(0.0_f64, |m, k| m.max(x[k].abs()));
                let (own, own_change) = (size(&last), size(&ahead_change));
                if joint_of(t.id).is_some() {
                    self.is_changing |= own_change > CHANGE * own;
                } else {
                    (largest[u], change[u]) = (largest[u].max(own), change[u].max(own_change));
                }
            }
            self.last.extend_from_slice(&last);
            self.ahead.extend_from_slice(&ahead);
        }
        self.is_changing |= change.iter().zip(largest).any(|(change, largest)| *change > CHANGE * largest);
    }

    /// Impulses of the last step, row by row.
    pub fn last(&self) -> &[f64] {
        &self.last
    }

    /// Starts the solver where the last two impulses lead, or at the last where they are better; whether one of them is the solution.
    pub fn begin(
        &self,
        solver: &mut dyn ContactSolver,
        problem: &ContactProblem,
        start: Start,
        solution: &mut Solution,
    ) -> bool {
        let is_smooth = self.is_smooth && start != Start::Still;
        // What hardly changes is rounding, of which steps ahead would make more and more.
        let is_changing = is_smooth && self.is_changing;
        let (first, second) = if is_changing { (&self.ahead, &self.last) } else { (&self.last, &self.ahead) };
        solution.r.clone_from(first);
        if solver.begin(problem, start, solution) {
            // Forces that nothing determines are not to drift: where both solve the problem it is the last.
            if is_changing {
                solution.r.clone_from(second);
                if !solver.begin(problem, start, solution) {
                    solution.r.clone_from(first);
                    return solver.begin(problem, start, solution);
                }
            }
            return true;
        }
        let residual = solution.residual;
        if !is_smooth || is_changing && residual.rel <= CLOSE {
            return false;
        }
        solution.r.copy_from_slice(second);
        if solver.begin(problem, start, solution) {
            return true;
        }
        if residual.rel <= solution.residual.rel {
            solution.r.copy_from_slice(first);
            solution.residual = residual;
            // That of the other.
            solution.u.clear();
        }
        false
    }
}

impl ContactMemory {
    /// An impulse in the tangents that the contact has now.
    fn in_tangents(&self, t: &ContactConstraint, impulse: &[f64]) -> RowValues {
        let [a, b] = self.tangents.map(Vec3::from);
        t.rows.gather(&t.rows.spread(impulse).map(|[n, x, y]| {
            let tangential = a * x + b * y;
            [n, t.tangents[0].dot(&tangential), t.tangents[1].dot(&tangential)]
        }))
    }
}
