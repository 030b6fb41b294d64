//! Every number that a solver was given rather than computed: value, unit, reason, and the measurement behind it.
//!
//! All are without unit, since solvers work on scaled variables (`contact/scaling.rs`). Residuals are shares of ‖q̂‖, a proximal parameter α is in units of a
//! contact's own compliance, ρ in units of its own stiffness, an inset in units of ‖q̂‖/√n.
//!
//! *Measured* names the row of the table of choices in `cases/experiments/contact-solvers.md` or the command that gives the numbers again.
//! *Chosen* means that nobody has compared it with another value, or that values nearby did as well: SOLVED means the stored and the random problems
//! (`tests/contact_files.rs`, `tests/contact_random.rs`), which all pass with it. *Rounding* means a small multiple of ε for a stated count of operations.

/// Judging a start, and handing over between attempts (`auto.rs`, `attempts.rs`).
pub mod auto {
    /// An attempt aims at this share of the tolerance, since the judge rounds differently. Chosen: 0.9; a tenth is far above the rounding of a residual.
    pub const MARGIN: f64 = 0.9;
    /// At rest a warm start must reach this share of what it must reach in motion: velocities that r leaves set bodies in motion, step after step. Chosen.
    pub const STILL_SHARE: f64 = 0.1;
    /// Newton's goal from nearby, as a share of what a warm start must reach: the next warm start then passes. Chosen between 1 (every second start just
    /// misses) and 0.01 (a step more).
    pub const NEAR_SHARE: f64 = 0.3;
    /// The same at rest, where what is left adds up step by step. Chosen.
    pub const NEAR_SHARE_STILL: f64 = 0.01;
    /// Free velocities of an island below this share of those of all are rounding: their unit is that of all. Rounding: 64 ε.
    pub const ROUNDED: f64 = 64.0 * f64::EPSILON;
    /// A rounding floor above this means that r has run away, not that the data are coarse. Chosen: floors of SOLVED are below 3e-10.
    pub const COARSE_FLOOR: f64 = 1e-8;
    /// Gauss–Seidel sweeps of a cold start. Measured: four sweeps leave 3 Newton steps on problems of 4 or 5 contacts, none leave 6 or more.
    pub const SWEEPS: usize = 4;
    /// The same for complementarity problems that pivoting does not get. Measured: 20 sweeps leave 1 to 3 factorisations at 101 to 201 rows, where Lemke
    /// takes 79 to 172 pivots.
    pub const LCP_SWEEPS: usize = 20;
    /// The same for those that it gets: one in each direction is exact for triangular matrices. Reason: hard ones for pivoting are of that kind.
    pub const PIVOTING_SWEEPS: usize = 2;
    /// The goal of a problem in motion as a share of what is accepted, and never below `GOAL`. Reason: impulses are the next step's start, and what a residual
    /// leaves as velocity adds up.
    pub const GOAL_SHARE: f64 = 1e-4;
    /// The goal of a strike as a share of that in motion: the rounding of energies is 1e-12 of them, and impulses may be ten times what they stop. Chosen.
    pub const STRIKE_SHARE: f64 = 1e-2;
    /// Multiplications of a solve at most, in factorisations over all contacts, for a problem that is solved alone. Chosen: hard ones take some 2500.
    pub const CEILING: f64 = 10_000.0;
    /// The same in motion, where the next step waits. Measured: 2000 leave a step of spheres in a box unsolved, 3000 do not.
    pub const CEILING_IN_MOTION: f64 = 5000.0;
    /// Sweeps settle where r moves by less than this share of the target: the residual is of the order of the movement. Chosen.
    pub const SETTLED: f64 = 0.1;
}

/// Newton's method (`newton.rs`) and the starts of its variants (`attempts.rs`).
pub mod newton {
    /// From this residual on a step or two are enough, whatever the size. Chosen.
    pub const NEAR: f64 = 1e-5;
    /// Number of contacts up to which a Newton step costs no more than a few sweeps. Chosen.
    pub const FEW_CONTACTS: usize = 24;
    /// With so few contacts a warm start of this residual is not swept first. Chosen.
    pub const FEW_RESIDUAL: f64 = 0.3;
    /// Newton's method from nearby is tried from this residual on. Chosen: a start worse than r = 0 has little to offer.
    pub const FIRST_RESIDUAL: f64 = 1.0;
    /// Its steps. Measured: 500 poured balls 6.4 ms with at most 60, 7.8 with a patience of 3.
    pub const FIRST_STEPS: usize = 60;
    /// Its steps from NEAR, and between what is accepted and the goal: there it ends at rounding or not at all. Measured: where a step had to gain a digit to be
    /// followed by another, a box of 10⁶ times the mass of the one below it sank.
    pub const NEAR_STEPS: usize = 3;
    /// Its least α. Measured: a legged machine takes 16 µs with 1e-5, 29 with 1e-7, 25 with 1e-3.
    pub const FIRST_ALPHA: f64 = 1e-5;
    /// Its least α in units of the tolerance, where that is smaller. Chosen.
    pub const ALPHA_PER_TOLERANCE: f64 = 1e3;
    /// Its least α from NEAR, where contacts hardly change their state and one step is to be enough. Chosen.
    pub const NEAR_ALPHA: f64 = 1e-8;
    /// Its largest α. Chosen: larger ones cost steps.
    pub const LARGEST_ALPHA: f64 = 1e-2;
    /// Number of contacts up to which the fast schedule comes first, and with patience: it ends at rounding, sweeps end at the tolerance. Chosen.
    pub const TINY_CONTACTS: usize = 4;
    /// Its proximal steps. Chosen.
    pub const TINY_STEPS: usize = 12;
    /// Its first α in units of the residual. Chosen.
    pub const TINY_SHARE: f64 = 0.1;
    /// Its least α. Chosen.
    pub const TINY_ALPHA: f64 = 1e-6;
    /// α over the speeds of a small machine in units of that over contacts: a step leaves α times what it takes away, or its square. Chosen.
    pub const SPEEDS_ALPHA: f64 = 0.03;
    /// Least α over speeds: below it forces that contacts leave undetermined drift. Chosen.
    pub const LEAST_SPEEDS_ALPHA: f64 = 1e-6;
    /// Down to this goal velocities found over speeds are not checked by W. Rounding: a hundred times ε times the largest 1/α that is used there.
    pub const SPEEDS_GOAL: f64 = 1e-11;
    /// Steps in which the residual must fall to PROGRESS. Measured: 15 and 0.7 take 335 µs on a falling chain, 5 and 0.5 take 447.
    pub const PATIENCE: usize = 15;
    /// See PATIENCE.
    pub const PROGRESS: f64 = 0.7;
    /// The full step is taken if ‖f‖ falls to this share. Chosen.
    pub const GOOD: f64 = 0.1;
    /// The step after nonlinear elimination is taken if ‖f‖ falls to this share. Chosen.
    pub const FAIR: f64 = 0.7;
    /// Number of times that contacts may join the eliminated ones in one step. Chosen.
    pub const ROUNDS: usize = 3;
    /// Number of contacts up to which factoring anew is cheaper than elimination. Chosen.
    pub const FEW_TO_ELIMINATE: usize = 8;
    /// The search halves the step until it is shorter than this. Measured: with 1/4, 2 of 200 random problems are unsolved, with 1/512, 8.
    pub const SHORTEST_STEP: f64 = 0.3;
    /// The search accepts a step of length t if ‖f‖ falls by this times t (Armijo's rule). Chosen.
    pub const ARMIJO: f64 = 0.1;
    /// A full step that lowers the residual by less is prolonged to where the first contact changes its state. Chosen.
    pub const LITTLE: f64 = 0.3;
    /// The rounding floor is only looked at below this residual, and links are only left for W there. Chosen.
    pub const FLOOR_CHECK: f64 = 1e-7;
    /// Share of the rounding floor at which proximal steps end. Chosen.
    pub const FLOOR_SHARE: f64 = 0.5;
    /// The largest α of a proximal step. Chosen.
    pub const MOST_ALPHA: f64 = 10.0;
    /// A target of an inner problem is never below this. Rounding: four operations.
    pub const INNER_FLOOR: f64 = 4.0 * f64::EPSILON;
    /// A tangential force within this share of its bound is on the bound. Rounding: the force comes from a solve of condition up to 1e7.
    pub const ON_BOUND: f64 = 1e-9;
    /// Factors of α by the number of Newton steps that an inner problem took. Measured: careful 0.3 leaves 10 of 500 hard problems unsolved, three
    /// adaptive ones 13 to 18; the fast one takes 15 to 25 steps on piles of capsules where the careful one takes 33.
    pub const FALL: f64 = 0.3;
    /// The fast schedule: at most this many steps, this factor; FALL beyond. Chosen.
    pub const FAST_FALL: [(usize, f64); 3] = [(1, 0.01), (3, 0.03), (6, 0.1)];
    /// Factor of α after an inner problem that resists. Measured: 3 with FALL 0.3 leaves 0 of 200 unsolved, 5 with 0.1 leaves 2.
    pub const RISE: f64 = 3.0;
    /// The same for full steps, which cycle. Chosen.
    pub const FULL_STEP_RISE: f64 = 30.0;
    /// Residual of an inner problem in units of what its outer step gains, by schedule: careful, fast, full steps. Chosen.
    pub const FORCING: [f64; 3] = [0.01, 0.3, 0.5];
    /// First and last steps by W where links have led to their rounding: α, proximal steps, Newton steps. Chosen.
    pub const POLISH: (f64, usize, usize) = (1e-8, 2, 3);
    /// Number of contacts from which on more than MANY_FULL_STEPS are worth it and interior points come before sweeps. Measured: up to 100 contacts 48
    /// sweeps take 190 µs where ten interior steps take 380; above, interior points take 14 steps in 725 of 770 problems.
    pub const MANY_CONTACTS: usize = 64;
    /// Full steps with at most MANY_CONTACTS contacts. Chosen.
    pub const FULL_STEPS: usize = 20;
    /// Full steps with more. Measured: a falling chain's three hardest problems take 464, 626 and 410 of them, careful ones 812 to 2129.
    pub const MANY_FULL_STEPS: usize = 700;
    /// Newton steps of one inner problem of full steps. Chosen: cycles are cut short.
    pub const FULL_INNER: usize = 5;
    /// First α of full steps: at least this, at most 1. Chosen.
    pub const FULL_ALPHA: f64 = 1e-4;
    /// First α and proximal steps where all laws are rows: an active-set method that ends in a few steps or not at all. Chosen.
    pub const ACTIVE_SET: (f64, usize) = (1e-9, 2);
    /// Careful steps from zero: ρ and proximal steps. Forces of bodies on the verge of sliding drift for a hundred of them and more. Chosen.
    pub const CAREFUL: [(f64, usize); 3] = [(1.0, 200), (3.0, 80), (0.3, 80)];
}

/// Contacts whose laws a Newton step does not meet (`stubborn.rs`).
pub mod elimination {
    /// Contacts at most. Measured: three take 30.5 million instructions on a pile, eight 37.7, none 33.7.
    pub const MOST: usize = 3;
    /// All but this share of ‖f‖² must be theirs. Chosen.
    pub const REST: f64 = 0.01;
    /// Newton steps at most. Chosen.
    pub const STEPS: usize = 20;
    /// Share to which these must lower their ‖f‖. Chosen.
    pub const ENOUGH: f64 = 1e-3;
    /// The search halves a step until it is shorter than this. Chosen.
    pub const SHORTEST_STEP: f64 = 0.1;
    /// Armijo's rule, as for Newton's method itself. Chosen.
    pub const ARMIJO: f64 = 0.1;
}

/// Interior points (`interior.rs`).
pub mod interior {
    /// Share of the way to the boundary of the cones that a step takes. Chosen: the literature has 0.9 to 0.999.
    pub const TO_BOUNDARY: f64 = 0.995;
    /// A step shorter than this leads nowhere. Chosen.
    pub const SHORT: f64 = 0.02;
    /// Short steps in a row after which the path is left. Chosen.
    pub const MOST_SHORT: usize = 2;
    /// The predictor's gain to this power is the share of τ that the corrector aims at. Reason: Mehrotra's.
    pub const CENTRING_POWER: i32 = 3;
    /// First distances from the boundary, tried in this order. Measured: moved by factors of three, within 15 % of the steps.
    pub const INSETS: [f64; 2] = [0.1, 1.0];
    /// The associated problem: gap to reach, steps, and distance from the boundary. Reason: Newton's method takes over from a residual of 1e-6; a convex problem takes
    /// 12 to 25 steps from anywhere, and from far inside the path is the central one.
    pub const EVEN: (f64, usize, f64) = (1e-9, 50, 1.0);
    /// Residual at which nearly all contacts have found their state. Measured: 1e-5 to 1e-3 instead, within 5 %.
    pub const GOAL: f64 = 1e-6;
    /// Steps at most. Measured: 14 to 23 on hard problems of a pile.
    pub const STEPS: usize = 30;
    /// α of the full Newton steps that follow: smaller ones mistake contacts at the verge of sliding. Chosen.
    pub const THEN_ALPHA: f64 = 1e-3;
    /// Their number, proximal and in all. Chosen.
    pub const THEN_STEPS: (usize, usize) = (20, 12);
}

/// Gauss–Seidel as a solver of its own (`gauss_seidel.rs`).
pub mod sweeps {
    /// Progress worth the name: to this share in PATIENCE checks. Chosen.
    pub const PROGRESS: f64 = 0.9;
    /// See PROGRESS.
    pub const PATIENCE: usize = 100;
    /// Share of the tolerance at which sweeps end. Chosen: the judge rounds differently.
    pub const GOAL_SHARE: f64 = 0.5;
    /// The rounding floor is looked at below this residual. Chosen.
    pub const FLOOR_CHECK: f64 = 1e-10;
    /// Share of the rounding floor at which sweeps end. Chosen.
    pub const FLOOR_SHARE: f64 = 0.25;
}

/// Alternating directions (`admm.rs`).
pub mod admm {
    /// First penalty ρ. Chosen.
    pub const RHO: f64 = 0.1;
    /// Over-relaxation. Reason: the literature recommends 1.5 to 1.8.
    pub const RELAXATION: f64 = 1.6;
    /// Steps before ρ may change; each change makes the next wait half as long again, so that the iteration ends up stationary. Chosen.
    pub const FIRST_WAIT: usize = 10;
    /// ρ changes where one residual is this many times the other. Reason: the literature's value.
    pub const UNBALANCED: f64 = 10.0;
    /// By this factor. Chosen.
    pub const CHANGE: f64 = 4.0;
    /// Steps between two looks at the residual. Chosen.
    pub const CHECK_EVERY: usize = 5;
    /// Progress worth the name: to this share in PATIENCE looks. Chosen.
    pub const PROGRESS: f64 = 0.99;
    /// See PROGRESS.
    pub const PATIENCE: usize = 400;
    /// Share of the tolerance that is aimed at. Chosen: the judge rounds differently.
    pub const GOAL_SHARE: f64 = 0.5;
    /// Asymmetry of W that a splitting of a convex programme bears: data printed to a few digits. Measured: stored problems have up to 2.5e-3.
    pub const ASYMMETRY: f64 = 1e-2;
}

/// Pivoting (`lemke.rs`, `tableau.rs`).
pub mod pivoting {
    /// Rows up to which a complementarity problem is pivoted before anything else. Chosen.
    pub const FEW_ROWS: usize = 60;
    /// Rows up to which a dense tableau is worth a try. Reason: 72 MB.
    pub const MOST_ROWS: usize = 3000;
    /// Pivots per row inside `auto`. Reason: n to 3 n are usual.
    pub const PER_ROW: usize = 20;
    /// Pivots that any size may take. Chosen.
    pub const AT_LEAST: usize = 100;
    /// Entries below this share of their column are rounding errors of earlier pivots. Rounding: some 10⁴ operations.
    pub const PIVOT: f64 = 1e-11;
    /// Ratios closer than this are equal: a degenerate vertex is one only up to rounding. Rounding, as PIVOT.
    pub const TIE: f64 = 1e-11;
    /// A sum this much smaller than its terms is rounding: 50 ε, with room for the errors of the terms themselves.
    pub const CANCEL: f64 = 1e-13;
    /// A solution read off the tableau is not refined below this share of the tolerance. Chosen.
    pub const GOOD_ENOUGH: f64 = 1e-2;
    /// Ties of a solution that was none are broken by this share of the largest |q|: far above the rounding of pivots, far below what tells solutions apart.
    pub const PERTURBATION: f64 = 1e-6;
    /// The golden ratio's fraction, whose multiples spread evenly.
    pub const GOLDEN: f64 = 0.618_033_988_749_894_9;
    /// PIVOT for the exchange of free variables, where complete pivoting keeps rounding errors small. Rounding: 5 ε.
    pub const FREE_PIVOT: f64 = 1e-15;
    /// Signs on a ray are certain above this share of the largest entry. Rounding, far below anything that could decide.
    pub const RAY_SIGN: f64 = 1e-10;
    /// qᵀy proves that there is no solution below minus this share of Σ |q y|. Chosen: a wrong proof is worse than none.
    pub const RAY_PROOF: f64 = 1e-8;
}

/// Enumeration (`enumerate.rs`).
pub mod enumerate {
    /// Pivots below this share of the largest entry are zero. Rounding: 50 ε.
    pub const PIVOT: f64 = 1e-14;
    /// Pivots between PIVOT and this may be zero or not: rounding decides. Chosen.
    pub const DOUBTFUL_PIVOT: f64 = 1e-10;
    /// A row without a pivot is 0 = 0 below this share of the right side. Rounding, as DOUBTFUL_PIVOT.
    pub const CONSISTENT: f64 = 1e-10;
    /// A residual below this that is no solution may be one that rounding spoiled. Chosen.
    pub const NEAR_MISS: f64 = 1e-6;
    /// Two solutions closer than this share of their size are one: far above rounding, far below distinct ones. Chosen.
    pub const SAME: f64 = 1e-9;
    /// Rows, and modes, up to which `auto` enumerates what nothing else has solved. Reason: some 10 ms.
    pub const MOST_ROWS: usize = 12;
    /// See MOST_ROWS.
    pub const MOST_MODES_IN_AUTO: usize = 1 << 12;
    /// Modes that the solver takes on: seconds, not hours. Chosen.
    pub const MOST_MODES: usize = 1 << 14;
}

/// One contact alone (`local.rs`).
pub mod local {
    /// Steps of the scalar root: Newton needs a handful, bisection 60 or so.
    pub const STEPS: usize = 128;
    /// A block of one freedom, and a stiffness that vanishes. Rounding: some dozen operations on sums of four.
    pub const SINGULAR: f64 = 64.0 * f64::EPSILON;
    /// Roots, quotients and determinants as exact as they can be computed. Rounding: four operations.
    pub const EXACT: f64 = 4.0 * f64::EPSILON;
    /// λ has settled where it moves by no more than this share. Rounding: two operations.
    pub const SETTLED: f64 = 2.0 * f64::EPSILON;
    /// Halvings of a Newton step on a law without closed form. Chosen.
    pub const HALVINGS: usize = 6;
    /// Projected steps where Newton's direction is no descent. Chosen.
    pub const PROJECTIONS: usize = 4;
}

/// Factorisations (`newton_matrix.rs` and what it calls).
pub mod factors {
    /// Columns of a dense matrix that are eliminated together: 16 rows of a matrix of 600 stay in the nearest cache.
    pub const PANEL: usize = 16;
    /// Volume of three rows, relative to that of orthogonal ones, from which minors are as good as elimination: minors lose its square. Chosen.
    pub const INDEPENDENT: f64 = 0.01;
    /// Over speeds a row keeps its own pivot from this share of the column's largest on: another row would tell all limbs of each other. Chosen.
    pub const OWN_PIVOT: f64 = 1e-3;
    /// A pivot of a tree below this share of what it is the difference of is rounding: 500 ε.
    pub const NO_PIVOT: f64 = 1e-13;
    /// α below which it is lost in the rounding of W: 5·10⁴ ε.
    pub const LEAST_ALPHA_IN_W: f64 = 1e-11;
    /// α below which M is lost in the rounding of M + JᵀJ/α, whose condition is some 10⁴/α.
    pub const LEAST_ALPHA_IN_MECHANISM: f64 = 1e-6;
    /// α below this times the tolerance gains nothing, and W is better conditioned with it: where forces drift a step takes them by the residual over α.
    pub const ALPHA_PER_TOLERANCE: f64 = 0.1;
}

/// The choice of a factorisation (`route.rs`).
pub mod route {
    /// Below this tolerance steps by links only lead near the solution, whose rounding is that of M + JᵀJ/α. Rounding.
    pub const LINK_TOLERANCE: f64 = 1e-9;
    /// A substitution by links costs this share of a factorisation. Measured: about a sixth, W being read from memory.
    pub const SUBSTITUTION: f64 = 1.0 / 3.0;
}
