//! Contacts of two convex pieces over a step.
//!
//! **Problem.** A step replaces the law "no overlap" by one plane per contact: gap + h n·u ≥ 0, u the relative velocity. For slow
//! bodies the plane between the closest points does. A fast body needs the plane that it will hit: the closest points may face
//! each other across a rim that it will fly past (a wall that is not there), or across a plate that it will cross.
//!
//! **Method.** With the velocities that are expected for the step, relative motion |Δ| + rotation bounds how far a pair can close. Beyond
//! that: no contact. If the gap along n cannot close: the points along n, as they are. Otherwise the pieces are advanced until they
//! touch, each time by the gap over the closing speed bound (Mirtich's conservative advancement). If they never touch, only points
//! stay whose planes the expected motion respects. If they touch at time t, the contact has the normal of that
//! instant, and of several that fit (a piece that slides flush over an edge) the one that the rest of the motion violates least. Its points are
//! found at that instant; gaps are taken back to the start along the expected motion.
//!
//! A pair that pushed in the last step, and whose gap is of second order in the way, keeps the plane between its closest points: rolling and sliding over a
//! curved surface leave such gaps, and where within the step a free motion would close them is anything.
//!
//! Turning brings no point farther from the centre than it is. Along a direction n it moves a point with the lever l by at most
//! min(h|ω| |l|, |l| − l·n), and what only a straight continuation of turning would reach is no contact.
//!
//! Two convex pieces that do not turn are never tunnelled, at whatever speed: the plane at the time of impact separates them at the start,
//! and the constraint keeps it so. Turning by θ = h|ω| in a step bends paths by up to ρθ²/2, ρ the reach of the piece,
//! so a plate of thickness d is safe while h|ω| ≤ √(2 d/ρ).
//!
//! **Cost.** One search for a direction, and two to ten more for a fast pair.
//!
//! **Fails when** contact with others changes the velocity within the step by more than was expected: what then overlaps is found by
//! the next step, at most by the distance of one step.
//!
//! **Checked by** `tests/collide_sweep.rs`.

use super::convex::{Placed, separation};
use super::direction::{Direction, Finder, propose};
use super::feature::{Spot, find_feature};
use super::manifold::{Clipper, Raw, name};
use super::mesh::{Mesh, Normal};
use super::reduce::Found;
use crate::spatial::{Mat3, Quaternion, Vec3};

/// Gaps up to here are looked at even without motion, relative to the smaller piece.
pub(crate) const SLACK: f64 = 1.0 / (1 << 20) as f64;
/// Gaps up to here count as touching, relative to the smaller piece.
pub(crate) const TOUCH: f64 = 1.0 / (1u64 << 33) as f64;
/// Overlap up to here is not held against a direction that the motion does not violate, relative to the smaller piece.
const GRAZE: f64 = 1.0 / (1 << 27) as f64;
/// How well points must reach the separation to prove it, relative to the size of both pieces.
const PROOF: f64 = 1e-12;
/// Most advances of a cast; a pair that still closes then is taken to touch.
pub(crate) const MAX_ADVANCES: usize = 48;

/// A convex piece in motion.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moving<'a> {
    pub placed: Placed<'a>,
    /// Of its centre.
    pub velocity: Vec3,
    pub spin: Vec3,
    /// Distance by which it may move otherwise than expected.
    pub allowance: f64,
    /// The surface of which it is a triangle.
    pub surface: Option<(&'a Mesh, usize)>,
}

impl<'a> Moving<'a> {
    /// Where it is expected after some time.
    fn after(&self, time: f64) -> Placed<'a> {
        let mut placed = self.placed;
        if time != 0.0 {
            placed.position += self.velocity * time;
            if self.spin != Vec3::zeros() && placed.reach > 0.0 {
                placed.rotation = turn(&(self.spin * time)) * placed.rotation;
            }
        }
        placed
    }

    /// The direction itself if the piece has it as an outward normal, to the last bit where it is that of a face.
    fn settle(&self, m: &Vec3) -> Option<Vec3> {
        let Some((mesh, triangle)) = self.surface else { return Some(*m) };
        match mesh.find_normal(triangle, &self.placed.rotation.tr_mul(m)) {
            Normal::None => None,
            Normal::Face(n) => Some(self.placed.rotation * n),
            Normal::Other => Some(*m),
        }
    }

    fn face(&self) -> Option<Vec3> {
        self.surface.and_then(|(mesh, triangle)| mesh.normal(triangle)).map(|n| self.placed.rotation * n)
    }
}

fn turn(r: &Vec3) -> Mat3 {
    Quaternion::exp(r).to_matrix()
}

/// Scratch.
#[derive(Default)]
pub(crate) struct Sweeper {
    finder: Finder,
    clipper: Clipper,
    a: Vec<Spot>,
    b: Vec<Spot>,
    raw: Vec<Raw>,
    /// Whether the next pair pushed in the last step.
    pub is_held: bool,
    /// Direction along which `raw` was found where the pieces of the present pair are at the start of the step.
    clipped: Option<Vec3>,
}

/// Whether the gap of a pair that has pushed is what rolling and sliding leave on a curved surface: of second order in the way of a step.
pub(crate) fn lasts(gap: f64, path: f64, small: f64) -> bool {
    gap * small <= path * path
}

/// How far a turn by so many radians can lower the end of a lever against `up`: it stays at its distance from the centre.
pub(crate) fn lowering(turn: f64, lever: &Vec3, up: &Vec3) -> f64 {
    let length = lever.norm();
    (turn * length).min(length + up.dot(lever)).max(0.0)
}

/// The smaller of two sizes that is not zero.
pub(crate) fn smaller(a: f64, b: f64) -> f64 {
    if a == 0.0 || (b > 0.0 && b < a) { b } else { a }
}

/// One pair over one step.
struct Pair<'a, 'b> {
    a: &'a Moving<'b>,
    b: &'a Moving<'b>,
    step: f64,
    /// Relative displacement of the centres over the step.
    path: Vec3,
    /// How much more the rotation of each can add along any direction.
    turning: [f64; 2],
    margin: f64,
    small: f64,
    size: f64,
    radii: f64,
}

impl Sweeper {
    /// Adds the contacts of two pieces to `out`. Directions and gaps are from a to b.
    pub(crate) fn find_contacts(&mut self, a: &Moving, b: &Moving, step: f64, out: &mut Vec<Found>) {
        let (pa, pb) = (&a.placed, &b.placed);
        let pair = Pair::new(a, b, step);
        let (margin, small, radii) = (pair.margin, pair.small, pair.radii);
        if small <= 0.0 {
            return; // Two points never touch.
        }
        // However fast they turn, pieces stay within their bounds.
        if (pb.position - pa.position).norm() > pa.bound() + pb.bound() + pair.straight() {
            return;
        }
        self.clipped = None;
        let start = self.resolve(&pair, pa, pb);
        self.clipped = self.clipped.filter(|n| *n == start.normal);
        let gap = start.separation - radii;
        if gap > margin {
            return;
        }
        let mut hit = (0.0, start);
        // What pushes goes on to do so along the plane between the closest points; where the free motion would hit is anywhere.
        let turning = pair.turning[0] + pair.turning[1];
        let is_lasting = self.is_held && lasts(gap, pair.path.norm() + turning, small);
        if gap > TOUCH * small && !is_lasting {
            if gap > turning - start.normal.dot(&pair.path) {
                return self.finish(&pair, (0.0, start), false, out);
            }
            if gap > pair.closing(&start.normal, (pa, pb)) {
                return self.finish(&pair, (0.0, start), true, out);
            }
            match self.cast(&pair, start) {
                Some(found) => hit = found,
                None => return self.finish(&pair, (0.0, start), true, out),
            }
        }
        let (time, found) = hit;
        let (at_a, at_b) = (a.after(time * step), b.after(time * step));
        let best = pair.least_violated(&at_a, &at_b, &found, 1.0 - time);
        if best != found.normal || time > 0.0 {
            hit.1 = Direction { normal: best, separation: separation(&at_a, &at_b, &best), ..found };
            if best != found.normal {
                hit.1.on_a = None;
            }
        }
        self.finish(&pair, hit, false, out);
    }

    /// Whether two pieces meet in the step, if they move as expected.
    pub(crate) fn meet(&mut self, a: &Moving, b: &Moving, step: f64) -> bool {
        let pair = Pair::new(a, b, step);
        let start = self.resolve(&pair, &a.placed, &b.placed);
        let gap = start.separation - pair.radii;
        let closes = gap <= pair.closing(&start.normal, (&a.placed, &b.placed));
        gap <= TOUCH * pair.small || (closes && self.cast(&pair, start).is_some())
    }

    /// The direction between two placed pieces.
    fn resolve(&mut self, pair: &Pair, a: &Placed, b: &Placed) -> Direction {
        let between_boxes = self.finder.find_between_boxes(a, b);
        if let Some(found) = between_boxes.and_then(|found| self.prove(pair, a, b, found)) {
            return found;
        }
        let offered = self.finder.find_offered(a, b);
        let proven = offered.and_then(|found| self.prove(pair, a, b, found));
        proven.unwrap_or_else(|| self.finder.find(a, b, offered))
    }

    /// A direction that is known to be the best, or that points along it prove to be.
    fn prove(&mut self, pair: &Pair, a: &Placed, b: &Placed, found: Direction) -> Option<Direction> {
        if found.is_reliable {
            return Some(found);
        }
        self.clip(a, b, &found.normal, pair.size);
        self.clipped = Some(found.normal);
        let is_reached = self.raw.iter().any(|r| r.gap <= found.separation + PROOF * pair.size);
        // A direction that is reached is locally best; where the pieces overlap, another may be better by as much as they do.
        (is_reached && found.separation >= -GRAZE * pair.small).then_some(Direction { is_reliable: true, ..found })
    }

    fn clip(&mut self, a: &Placed, b: &Placed, n: &Vec3, size: f64) {
        find_feature(a, n, &mut self.a);
        find_feature(b, &-n, &mut self.b);
        self.raw.clear();
        self.clipper.clip(&self.a, &self.b, n, size, &mut self.raw);
    }

    /// Advances the pieces until they touch: part of the step, and direction. None if they do not touch in this step.
    fn cast(&mut self, pair: &Pair, start: Direction) -> Option<(f64, Direction)> {
        let (mut time, mut found) = (0.0, start);
        let (mut a, mut b) = (pair.a.placed, pair.b.placed);
        for _ in 0..MAX_ADVANCES {
            let gap = found.separation - pair.radii;
            if gap <= 0.5 * TOUCH * pair.small {
                break;
            }
            let closing = pair.closing(&found.normal, (&a, &b));
            if closing <= 0.0 {
                return None;
            }
            time += gap / closing;
            if time >= 1.0 {
                return None;
            }
            (a, b) = (pair.a.after(time * pair.step), pair.b.after(time * pair.step));
            found = self.resolve(pair, &a, &b);
            self.clipped = None;
        }
        Some((time, found))
    }

    /// Adds the points of a direction at a time, or of a face where the surface does not have the direction.
    fn finish(&mut self, pair: &Pair, (time, found): (f64, Direction), is_miss: bool, out: &mut Vec<Found>) {
        if let Some(n) = pair.settle(&found.normal) {
            let (a, b) = (pair.a.after(time * pair.step), pair.b.after(time * pair.step));
            if time != 0.0 || self.clipped != Some(n) {
                self.clip(&a, &b, &n, pair.size);
            }
            // What a face does not reach is reached by its neighbour.
            let is_face = [pair.a.face(), pair.b.face().map(|m| -m)].contains(&Some(n));
            if !is_face && !self.raw.iter().any(|r| r.gap <= found.separation + PROOF * pair.size) {
                let on_a = self.witness(&a, &b, &n, &found, pair.size);
                self.raw.push(Raw { on_a, gap: found.separation, feature: name::closest() });
            }
            return self.emit(pair, &a, &b, time, &n, found.is_reliable, is_miss, out);
        }
        let faces = [pair.a.face(), pair.b.face().map(|n| -n)];
        for n in faces.into_iter().flatten() {
            // Behind a surface there is no contact with it.
            let is_ahead = n.dot(&(pair.b.placed.position - pair.a.placed.position)) > 0.0;
            let Some(n) = pair.settle(&n).filter(|_| is_ahead) else { continue };
            let gap = separation(&pair.a.placed, &pair.b.placed, &n) - pair.radii;
            // Pieces that do not overlap do not overlap along a face either; others not by more than the smaller one.
            let is_apart = found.separation - pair.radii > TOUCH * pair.small;
            if gap > pair.margin || gap < -pair.small * if is_apart { SLACK } else { 1.0 } {
                continue;
            }
            let closing = -n.dot(&pair.path);
            let time = if gap > 0.0 && closing > 0.0 { (gap / closing).min(1.0) } else { 0.0 };
            let (a, b) = (pair.a.after(time * pair.step), pair.b.after(time * pair.step));
            self.clip(&a, &b, &n, pair.size);
            return self.emit(pair, &a, &b, time, &n, true, false, out);
        }
    }

    /// The point of a at which the separation along `n` is reached, where no features lie above each other.
    fn witness(&self, a: &Placed, b: &Placed, n: &Vec3, found: &Direction, size: f64) -> Vec3 {
        let (of_a, of_b) = (a.support(n), b.support(&-n) - n * found.separation);
        let Some(guess) = found.on_a else {
            // The smaller feature has the point.
            return if self.a.len() <= self.b.len() { of_a } else { of_b };
        };
        if !(a.core.has_rim() || b.core.has_rim()) {
            return guess;
        }
        // The direction may have been polished since; corners and rims have the point to the same precision, if it is theirs.
        let best = if (of_a - guess).norm() <= (of_b - guess).norm() { of_a } else { of_b };
        if (best - guess).norm() <= 1e-3 * size { best } else { guess }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one contact")]
    fn emit(
        &self,
        pair: &Pair,
        a: &Placed,
        b: &Placed,
        time: f64,
        n: &Vec3,
        is_reliable: bool,
        is_miss: bool,
        out: &mut Vec<Found>,
    ) {
        for raw in &self.raw {
            let on_a = raw.on_a + n * a.radius;
            let gap = raw.gap - pair.radii;
            let (lever_a, lever_b) = (on_a - a.position, on_a + n * gap - b.position);
            let velocity =
                pair.b.velocity + pair.b.spin.cross(&lever_b) - pair.a.velocity - pair.a.spin.cross(&lever_a);
            let path = pair.step * n.dot(&velocity);
            let gap = gap - time * path;
            let is_beyond = time == 0.0 && pair.is_beyond(gap, n, [lever_a, lever_b]);
            if gap > pair.margin || (is_miss && gap + path < 0.0) || is_beyond {
                continue;
            }
            out.push(Found {
                on_a: pair.a.placed.position + lever_a,
                on_b: pair.b.placed.position + lever_b,
                normal: *n,
                gap,
                time,
                feature: raw.feature,
                is_reliable,
            });
        }
    }
}

impl<'a, 'b> Pair<'a, 'b> {
    fn new(a: &'a Moving<'b>, b: &'a Moving<'b>, step: f64) -> Self {
        let (pa, pb) = (&a.placed, &b.placed);
        let path = (b.velocity - a.velocity) * step;
        let turning = [step * a.spin.norm() * pa.reach, step * b.spin.norm() * pb.reach];
        let size = pa.bound() + pb.bound() + (pb.position - pa.position).norm();
        let (small, radii) = (smaller(pa.bound(), pb.bound()), pa.radius + pb.radius);
        let mut pair = Self { a, b, step, path, turning, margin: 0.0, small, size, radii };
        pair.margin = pair.straight() + turning[0] + turning[1];
        pair
    }

    /// How far the pieces may come towards each other without turning.
    fn straight(&self) -> f64 {
        self.path.norm() + self.a.allowance + self.b.allowance + SLACK * self.small
    }

    /// The direction if both pieces have it as a normal.
    fn settle(&self, n: &Vec3) -> Option<Vec3> {
        let n = self.a.settle(n)?;
        self.b.settle(&-n).map(|m| -m)
    }

    /// How much the gap along `n` can shrink in the step from where the pieces are.
    fn closing(&self, n: &Vec3, (a, b): (&Placed, &Placed)) -> f64 {
        // Nothing of a piece gets farther from its centre than its reach.
        let turning = |piece: &Placed, turning: f64, n: &Vec3| {
            if turning == 0.0 {
                return 0.0;
            }
            turning.min((piece.reach - n.dot(&(piece.support(n) - piece.position))).max(0.0))
        };
        turning(a, self.turning[0], n) + turning(b, self.turning[1], &-n) - n.dot(&self.path)
    }

    /// Whether two points at a distance along `n` cannot meet in the step, because turning does not bring them as far.
    fn is_beyond(&self, gap: f64, n: &Vec3, [of_a, of_b]: [Vec3; 2]) -> bool {
        let (turn_a, turn_b) = (self.step * self.a.spin.norm(), self.step * self.b.spin.norm());
        gap > self.straight() + lowering(turn_a, &of_a, &-n) + lowering(turn_b, &of_b, n)
    }

    /// Of the directions that separate the pieces, then or at the start, but for rounding, the one that `rest` of the motion violates least.
    fn least_violated(&self, a: &Placed, b: &Placed, found: &Direction, rest: f64) -> Vec3 {
        let path = self.path * rest;
        let slack = GRAZE * self.small;
        let mut best = (found.separation - self.radii + found.normal.dot(&path), found.normal);
        if best.0 >= 0.0 || found.separation - self.radii < -slack {
            return found.normal;
        }
        // No direction has a larger gap than the best, so that what a direction can gain it gains from the motion. Half of the slack is
        // more than rounding.
        let needed = best.0 + 0.5 * slack - (found.separation - self.radii);
        let can_gain = |along: f64| !found.is_reliable || along > needed;
        if !can_gain(path.norm()) {
            return found.normal;
        }
        propose(a, b, Some(&found.normal), &mut |n| {
            if !can_gain(n.dot(&path)) {
                return;
            }
            let gap = separation(a, b, &n) - self.radii;
            let end = gap + n.dot(&path);
            // Flush at the start: the expected motion sinks in only because it does not know what carries the piece.
            let is_flush = || (separation(&self.a.placed, &self.b.placed, &n) - self.radii).abs() <= slack;
            if end > best.0 + slack && (gap >= -slack || is_flush()) {
                best = (end, n);
            }
        });
        best.1
    }
}
