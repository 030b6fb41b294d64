//! Enumeration: all solutions of a small problem.
//!
//! **Problem.** Unilateral, bilateral and bounded rows and planar Coulomb contacts: laws made of finitely many linear
//! pieces (open, closed; at a bound; open, stuck, sliding either way).
//!
//! **Method.** One piece per contact makes a *mode*: a square linear system with inequalities. A regular mode has one
//! candidate. A singular but consistent one has a continuum: its extreme points are the candidates with further rows
//! tied to the border of their piece, so those are tried too. Whether the segment between two solutions of one mode solves
//! the problem is then certain, as a mode is convex. No candidate in any mode proves that there is no solution (up to
//! rounding, reported with the best residual met).
//!
//! **Cost.** (pieces)^contacts factorisations; refused above `max_modes`.
//!
//! **Fails when** the problem is too large, or a law is curved (circular cones in space).
//!
//! **Checked by** `tests/contact_enumerate.rs`: the Painlevé rod with 0, 1 and 2 solutions and its time-stepping LCP.

use super::super::cone::{Cone, Section};
use super::super::error::ContactError;
use super::super::problem::ContactProblem;
use super::constants::enumerate::{CONSISTENT, DOUBTFUL_PIVOT, MOST_MODES, NEAR_MISS, PIVOT, SAME};
use super::frame::Frame;
use super::method::{Framed, Iterate};
use super::outcome::Outcome;
use super::system::System;
use super::{GOAL, Solution, Start, Work};

/// Options of [`Enumerate`].
#[derive(Debug, Clone, PartialEq)]
pub struct EnumerateOptions {
    /// Tolerance on `rel` of a solution.
    pub tolerance: f64,
    /// Largest number of modes.
    pub max_modes: usize,
}

impl Default for EnumerateOptions {
    fn default() -> Self {
        Self { tolerance: GOAL, max_modes: 1 << 20 }
    }
}

/// What enumeration found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Enumeration {
    /// All isolated solutions, and the extreme points of continua.
    pub solutions: Vec<Vec<f64>>,
    /// Whether a mode could not be decided in double precision: an empty list is then no proof.
    pub is_ambiguous: bool,
    /// Pairs of solutions with only solutions between them.
    pub segments: Vec<(usize, usize)>,
    /// Modes tried.
    pub work: Work,
}

/// Enumeration as a solver: returns the solution of smallest norm.
pub type Enumerate = Framed<Enumerating>;

/// The method behind [`Enumerate`].
#[derive(Debug, Clone, Default)]
pub struct Enumerating {
    options: EnumerateOptions,
}

impl Enumerate {
    /// With options.
    pub fn new(options: EnumerateOptions) -> Self {
        Self::around(Enumerating { options })
    }
}

/// Linear pieces of one row: `r = value` or `u = 0`, or a sliding contact r_t = slope r_n.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Piece {
    /// r = value.
    Fixed(f64),
    /// u = 0.
    Zero,
    /// r = slope · (r of the row before).
    Along(f64),
}

/// The modes of one law, row by row.
fn pieces(cone: &Cone) -> Option<Vec<Vec<Piece>>> {
    Some(match cone {
        Cone::Bilateral => vec![vec![Piece::Zero]],
        Cone::Unilateral => vec![vec![Piece::Fixed(0.0)], vec![Piece::Zero]],
        Cone::Interval { lower, upper } => {
            let mut all = vec![vec![Piece::Zero]];
            all.extend([lower, upper].into_iter().filter(|b| b.is_finite()).map(|b| vec![Piece::Fixed(*b)]));
            all
        }
        Cone::Friction(Section::Ball { dim: 1, radius }) => vec![
            vec![Piece::Fixed(0.0), Piece::Fixed(0.0)],
            vec![Piece::Zero, Piece::Zero],
            vec![Piece::Zero, Piece::Along(*radius)],
            vec![Piece::Zero, Piece::Along(-radius)],
        ],
        Cone::Friction(_) => return None,
    })
}

/// A row on the border of its piece, where a continuum of solutions may end.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Tie {
    row: usize,
    piece: Piece,
}

fn ties(cone: &Cone, row: usize) -> Vec<Tie> {
    match cone {
        Cone::Unilateral => vec![Tie { row, piece: Piece::Fixed(0.0) }],
        Cone::Interval { lower, upper } => {
            let bounds = [lower, upper].into_iter().filter(|b| b.is_finite());
            bounds.map(|b| Tie { row, piece: Piece::Fixed(*b) }).collect()
        }
        Cone::Friction(Section::Ball { dim: 1, radius }) => vec![
            Tie { row, piece: Piece::Fixed(0.0) },
            Tie { row: row + 1, piece: Piece::Along(*radius) },
            Tie { row: row + 1, piece: Piece::Along(-radius) },
        ],
        _ => Vec::new(),
    }
}

/// Finds all solutions.
pub fn enumerate(problem: &ContactProblem, options: &EnumerateOptions) -> Result<Enumeration, ContactError> {
    check(problem, options.max_modes)?;
    let mut frame = Frame::default();
    frame.open(problem, Start::Cold, options.tolerance, &mut Solution::default());
    frame.enter(problem, &mut vec![0.0; problem.n_rows()]);
    let mut found = search(&mut frame.system, options);
    for r in &mut found.solutions {
        System::leave(frame.scaling(), r);
    }
    Ok(found)
}

/// Whether all laws have pieces, and no more modes than allowed.
fn check(problem: &ContactProblem, max_modes: usize) -> Result<(), ContactError> {
    let refused = |reason| Err(ContactError::NotApplicable { solver: "enumerate", reason });
    match count_modes(problem.cones()) {
        None => refused("a law with a curved section (circular, rolling, ellipsoidal) or a polygon in space"),
        Some(n) if n > max_modes => refused("more modes than `max_modes`"),
        Some(_) => Ok(()),
    }
}

/// Number of modes; none where a law is curved.
pub fn count_modes(cones: &[Cone]) -> Option<usize> {
    cones.iter().try_fold(1_usize, |n, cone| Some(n.saturating_mul(pieces(cone)?.len())))
}

/// All solutions of a scaled problem, in scaled variables.
pub fn search(system: &mut System, options: &EnumerateOptions) -> Enumeration {
    // Bounds and slopes in scaled variables.
    let modes: Vec<_> = system.cones.iter().map(|cone| pieces(cone).unwrap_or_default()).collect();
    let ties = system.cones.iter().enumerate().flat_map(|(i, cone)| ties(cone, system.offsets()[i])).collect();
    let mut search = Search { options, out: Enumeration::default(), ties };
    let mut choice = vec![0; modes.len()];
    let mut dense = Vec::new();
    system.w.to_dense(&mut dense);
    for _ in 0..count_modes(&system.cones).unwrap_or(0) {
        let rows: Vec<Piece> = choice.iter().zip(&modes).flat_map(|(c, m)| m[*c].iter().copied()).collect();
        search.visit(system, &dense, &rows, &mut Vec::new(), 0);
        for (c, m) in choice.iter_mut().zip(&modes) {
            *c += 1;
            if *c < m.len() {
                break;
            }
            *c = 0;
        }
    }
    search.find_segments(system);
    search.out
}

struct Search<'a> {
    options: &'a EnumerateOptions,
    out: Enumeration,
    ties: Vec<Tie>,
}

impl Search<'_> {
    /// Tries one mode with some rows tied to the border of their piece; a continuum is tied further, row by row in
    /// the order of `ties`, so that every subset is met once.
    fn visit(&mut self, system: &mut System, dense: &[f64], mode: &[Piece], tied: &mut Vec<Tie>, from: usize) {
        self.out.work.pivots += 1;
        match solve_mode(system, dense, mode, tied, &mut self.out.is_ambiguous) {
            Mode::Point(r) => self.offer(system, r),
            Mode::Inconsistent => {}
            Mode::Continuum => {
                for k in from..self.ties.len() {
                    let tie = self.ties[k];
                    if mode[tie.row] == Piece::Zero {
                        tied.push(tie);
                        self.visit(system, dense, mode, tied, k + 1);
                        tied.pop();
                    }
                }
            }
        }
    }

    /// Keeps r if it solves the problem and is new.
    fn offer(&mut self, system: &mut System, r: Vec<f64>) {
        let rel = system.rel(&r);
        if rel > self.options.tolerance.max(system.floor(&r)) {
            // A candidate that misses by little may be a solution that rounding spoiled.
            self.out.is_ambiguous |= rel < NEAR_MISS;
            return;
        }
        let size = r.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let same = |other: &Vec<f64>| {
            let size = other.iter().fold(size, |m, x| m.max(x.abs()));
            // Two routes to one point differ by rounding only.
            other.iter().zip(&r).all(|(a, b)| (a - b).abs() <= SAME * size)
        };
        if !self.out.solutions.iter().any(same) {
            self.out.solutions.push(r);
        }
    }

    /// Two solutions are joined when the points between them are solutions too.
    fn find_segments(&mut self, system: &mut System) {
        for a in 0..self.out.solutions.len() {
            for b in a + 1..self.out.solutions.len() {
                let joined = [0.25, 0.5, 0.75].iter().all(|t| {
                    let (x, y) = (&self.out.solutions[a], &self.out.solutions[b]);
                    let r: Vec<f64> = x.iter().zip(y).map(|(x, y)| (1.0 - t) * x + t * y).collect();
                    system.rel(&r) <= self.options.tolerance.max(system.floor(&r))
                });
                if joined {
                    self.out.segments.push((a, b));
                }
            }
        }
    }
}

enum Mode {
    Point(Vec<f64>),
    Inconsistent,
    Continuum,
}

/// Solves the equations of a mode and of its ties, by elimination with complete pivoting.
fn solve_mode(system: &System, dense: &[f64], mode: &[Piece], tied: &[Tie], ambiguous: &mut bool) -> Mode {
    let n = mode.len();
    let width = n + 1;
    let mut table: Vec<f64> = Vec::with_capacity(2 * n * width);
    let mut push = |k: usize, piece: Piece| {
        let at = table.len();
        table.resize(at + width, 0.0);
        let row = &mut table[at..];
        match piece {
            Piece::Fixed(value) => {
                row[k] = 1.0;
                row[n] = value;
            }
            Piece::Along(slope) => {
                row[k] = 1.0;
                row[k - 1] = -slope;
            }
            Piece::Zero => {
                row[..n].copy_from_slice(&dense[k * n..(k + 1) * n]);
                row[n] = -system.q[k];
            }
        }
    };
    for k in 0..n {
        push(k, mode[k]);
    }
    for tie in tied {
        push(tie.row, tie.piece);
    }
    // Equations of unit size, so that pivots can be compared.
    for row in table.chunks_exact_mut(width) {
        let largest = row[..n].iter().fold(0.0_f64, |s, x| s.max(x.abs()));
        if largest > 0.0 {
            row.iter_mut().for_each(|x| *x /= largest);
        }
    }
    let m = table.len() / width;
    let mut column_of = vec![usize::MAX; n];
    let size = |row: &[f64]| row[..n].iter().fold(0.0_f64, |s, x| s.max(x.abs()));
    let largest = table.chunks_exact(width).map(size).fold(0.0, f64::max);
    let right = table.chunks_exact(width).fold(0.0_f64, |s, row| s.max(row[n].abs()));
    let mut rank = 0;
    let mut used = vec![false; n];
    while rank < m {
        let mut best = (PIVOT * largest, 0, 0);
        for i in rank..m {
            for j in 0..n {
                let x = table[i * width + j].abs();
                if !used[j] && x > best.0 {
                    best = (x, i, j);
                }
            }
        }
        let (x, i, j) = best;
        if x <= PIVOT * largest {
            break;
        }
        *ambiguous |= x < DOUBTFUL_PIVOT * largest;
        for k in 0..width {
            table.swap(i * width + k, rank * width + k);
        }
        used[j] = true;
        column_of[j] = rank;
        let pivot_row: Vec<f64> = table[rank * width..(rank + 1) * width].to_vec();
        for (k, row) in table.chunks_exact_mut(width).enumerate() {
            let f = row[j] / pivot_row[j];
            if k != rank && f != 0.0 {
                row.iter_mut().zip(&pivot_row).for_each(|(x, p)| *x -= f * p);
                row[j] = 0.0;
            }
        }
        rank += 1;
    }
    // Rows without a pivot must be 0 = 0, to rounding.
    let consistent = (rank..m).all(|i| table[i * width + n].abs() <= CONSISTENT * right);
    if !consistent {
        *ambiguous |= (rank..m).all(|i| table[i * width + n].abs() <= NEAR_MISS * right);
        return Mode::Inconsistent;
    }
    if rank < n {
        return Mode::Continuum;
    }
    let mut r = vec![0.0; n];
    for j in 0..n {
        let row = column_of[j];
        r[j] = table[row * width + n] / table[row * width + j];
    }
    if r.iter().all(|x| x.is_finite()) { Mode::Point(r) } else { Mode::Inconsistent }
}

impl Iterate for Enumerating {
    const NAME: &'static str = "enumerate";
    // All solutions are wanted.
    const USES_START: bool = false;

    fn tolerance(&self) -> f64 {
        self.options.tolerance
    }

    /// As a solver among others it is offered for problems that take seconds, not hours.
    fn check(&self, problem: &ContactProblem) -> Result<(), ContactError> {
        check(problem, self.options.max_modes.min(MOST_MODES))
    }

    fn iterate(&mut self, system: &mut System, r: &mut [f64], work: &mut Work) -> Outcome {
        find_smallest(system, &self.options, r, work)
    }
}

/// The solution of smallest norm in the problem's own units, or how it is that there is none.
pub fn find_smallest(system: &mut System, options: &EnumerateOptions, r: &mut [f64], work: &mut Work) -> Outcome {
    let found = search(system, options);
    work.pivots += found.work.pivots;
    r.fill(0.0);
    let square = |r: &&Vec<f64>| r.iter().zip(&system.row_unit).map(|(r, s)| (r / s) * (r / s)).sum::<f64>();
    match found.solutions.iter().min_by(|a, b| square(a).total_cmp(&square(b))) {
        Some(smallest) => {
            r.copy_from_slice(smallest);
            if found.solutions.len() > 1 { Outcome::Many } else { Outcome::Met }
        }
        None if found.is_ambiguous => Outcome::Stalled,
        None => Outcome::NoSolution,
    }
}
