//! Contacts of one pair of shapes, whatever they are.

use super::ball;
use super::broad::core_box;
use super::convex::{Core, Placed};
use super::feature::{Spot, find_corners, find_feature};
use super::manifold::name;
use super::mesh::{Mesh, vector};
use super::piece::{Piece, PieceForm};
use super::reduce::{Found, Reducer};
use super::sweep::{Moving, SLACK, Sweeper, lowering, smaller};
use crate::spatial::{Pose, Vec3};
use parry3d_f64::bounding_volume::Aabb;

/// Where a shape's centre is and how it moves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Motion {
    pub pose: Pose,
    pub velocity: Vec3,
    pub spin: Vec3,
    /// Distance by which it may move otherwise than expected.
    pub allowance: f64,
}

/// Scratch.
#[derive(Default)]
pub(crate) struct PairScratch {
    sweeper: Sweeper,
    reducer: Reducer,
    spots: Vec<Spot>,
    near: Vec<u32>,
    near_other: Vec<u32>,
    pub found: Vec<Found>,
    /// Whether the next pair pushed in the last step.
    is_held: bool,
}

/// Corners up to this many are compared with each other to find those that others hide.
const MAX_COMPARED: usize = 64;
/// Relative to the size of a shape: corners that are this close across the normal lie above each other.
const ABOVE: f64 = 1e-9;

impl PairScratch {
    /// Says whether the next pair pushed in the last step.
    pub(crate) fn set_held(&mut self, is_held: bool) {
        (self.is_held, self.sweeper.is_held) = (is_held, is_held);
    }

    /// Fills `found` with the contacts of two shapes; positions are relative to the centre of a.
    pub(crate) fn find_contacts(&mut self, a: (&Piece, &Motion), b: (&Piece, &Motion), step: f64) {
        self.found.clear();
        if self.balls(a, b, step) {
            return;
        }
        let origin = a.1.pose.translation;
        let about = |m: &Motion| Motion { pose: Pose::new(m.pose.rotation, m.pose.translation - origin), ..*m };
        let (ma, mb) = (about(a.1), about(b.1));
        let size = match (&a.0.form, &b.0.form) {
            (PieceForm::HalfSpace, _) => {
                self.half_space(&ma, b.0, &mb, step);
                b.0.reach + b.0.radius
            }
            (_, PieceForm::HalfSpace) => 0.0, // Only the ground has them, and the ground is a.
            (PieceForm::Surface(of_a), PieceForm::Surface(of_b)) => {
                self.surfaces(of_a, &ma, of_b, &mb, step, (a.0.reach, b.0.reach));
                a.0.reach + b.0.reach
            }
            (PieceForm::Surface(mesh), _) => {
                if let Some(placed) = b.0.placed(&mb.pose) {
                    self.surface(mesh, &ma, a.0.reach, placed, &mb, step, true);
                }
                a.0.reach + b.0.reach + b.0.radius
            }
            (_, PieceForm::Surface(mesh)) => {
                if let Some(placed) = a.0.placed(&ma.pose) {
                    self.surface(mesh, &mb, b.0.reach, placed, &ma, step, false);
                }
                a.0.reach + b.0.reach + a.0.radius
            }
            _ => {
                if let (Some(pa), Some(pb)) = (a.0.placed(&ma.pose), b.0.placed(&mb.pose)) {
                    let (a, b) = (moving(pa, &ma, None), moving(pb, &mb, None));
                    self.sweeper.find_contacts(&a, &b, step, &mut self.found);
                }
                a.0.reach + a.0.radius + b.0.reach + b.0.radius
            }
        };
        if self.found.len() < 2 {
            return; // Nothing to compare, sort or tell apart.
        }
        let is_a_still = ma.velocity == Vec3::zeros() && ma.spin == Vec3::zeros();
        self.reducer.reduce(&mut self.found, 0, size, is_a_still);
        tell_apart(&mut self.found);
    }

    /// Contacts of balls with each other and with half-spaces. Whether that is all there is to say.
    fn balls(&mut self, a: (&Piece, &Motion), b: (&Piece, &Motion), step: f64) -> bool {
        let PieceForm::Convex(Core::Point) = b.0.form else { return false };
        let found = match &a.0.form {
            PieceForm::HalfSpace => Ok(ball::find_on_plane(a.1, (b.0.radius, b.1), step)),
            PieceForm::Convex(Core::Point) => {
                ball::find_between((a.0.radius, a.1), (b.0.radius, b.1), step, self.is_held)
            }
            _ => return false,
        };
        let Ok(found) = found else { return false };
        self.found.extend(found);
        true
    }

    /// Every corner is held by the plane itself, so that the contact is exact for polytopes.
    fn half_space(&mut self, plane: &Motion, piece: &Piece, motion: &Motion, step: f64) {
        let n = plane.pose.rotation.column(2).into_owned();
        let bound = piece.reach + piece.radius;
        let size = bound + motion.pose.translation.norm();
        let path = step * n.dot(&motion.velocity);
        let margin = (-path).max(0.0) + motion.allowance + plane.allowance + SLACK * bound;
        let centre = n.dot(&motion.pose.translation);
        // However fast it turns, it stays within its bound.
        if centre - bound > margin {
            return;
        }
        let turn = step * motion.spin.norm();
        let is_near = |p: &Vec3| n.dot(p) - piece.radius <= margin + lowering(turn, &(p - motion.pose.translation), &n);
        match (&piece.form, piece.placed(&motion.pose)) {
            (PieceForm::Surface(mesh), _) => {
                self.spots.clear();
                let spots = mesh.vertices.iter().zip(0..).map(|(v, id)| Spot { p: motion.pose.point(v), id });
                self.spots.extend(spots.filter(|s| is_near(&s.p)));
            }
            (_, Some(placed)) => {
                if !find_corners(&placed, &mut self.spots) {
                    find_feature(&placed, &-n, &mut self.spots);
                }
                self.spots.retain(|s| is_near(&s.p));
            }
            (_, None) => return,
        }
        for (i, spot) in self.spots.iter().enumerate() {
            let gap = n.dot(&spot.p);
            let hides = |(j, other): (usize, &Spot)| {
                let d = other.p - spot.p;
                let rise = n.dot(&d);
                (rise < 0.0 || (rise == 0.0 && j < i)) && (d - n * rise).norm() <= ABOVE * size
            };
            if self.spots.len() <= MAX_COMPARED && self.spots.iter().enumerate().any(hides) {
                continue;
            }
            let on_b = spot.p - n * piece.radius;
            let gap = gap - piece.radius;
            let on_a = on_b - n * gap;
            let feature = name::of_b(spot.id);
            self.found.push(Found { on_a, on_b, normal: n, gap, time: 0.0, feature, is_reliable: true });
        }
    }

    /// A convex piece and a surface, which is a or b.
    #[expect(clippy::too_many_arguments, reason = "two shapes with their motion")]
    fn surface(
        &mut self,
        mesh: &Mesh,
        of_mesh: &Motion,
        reach: f64,
        placed: Placed,
        of_piece: &Motion,
        step: f64,
        is_a: bool,
    ) {
        let piece = moving(placed, of_piece, None);
        if !self.is_reached(of_mesh, reach, &piece, step) {
            return;
        }
        let path = (of_piece.velocity - of_mesh.velocity) * step;
        let turning = step * (of_piece.spin.norm() * placed.reach + of_mesh.spin.norm() * (reach + path.norm()));
        let margin = turning + of_piece.allowance + of_mesh.allowance + SLACK * smaller(placed.bound(), reach);
        // The box of the piece on its way, in the axes of the surface.
        let (r, t) = (&of_mesh.pose.rotation, &of_mesh.pose.translation);
        let local =
            Placed { rotation: r.tr_mul(&placed.rotation), position: r.tr_mul(&(placed.position - t)), ..placed };
        let bounds = super::broad::swept(core_box(&local), &r.tr_mul(&path), margin);
        collect(mesh, &bounds, &mut self.near);
        for &triangle in &self.near {
            let triangle = piece_of(mesh, triangle as usize, of_mesh);
            let (a, b) = if is_a { (&triangle, &piece) } else { (&piece, &triangle) };
            self.sweeper.find_contacts(a, b, step, &mut self.found);
        }
    }

    /// Whether a surface comes to a piece. Its triangles move straight on, and say nothing of where they are after a turn by more than a radian;
    /// the ball that holds them does.
    fn is_reached(&mut self, of_mesh: &Motion, reach: f64, piece: &Moving, step: f64) -> bool {
        const STRAIGHT: f64 = 1.0;
        if step * of_mesh.spin.norm() <= STRAIGHT {
            return true;
        }
        let radius = reach * (1.0 + SLACK) + of_mesh.allowance + piece.allowance;
        let motion = Motion { spin: Vec3::zeros(), allowance: 0.0, ..*of_mesh };
        let (rotation, position) = (motion.pose.rotation, motion.pose.translation);
        let ball = Placed { core: &Core::Point, rotation, position, radius, reach: 0.0 };
        self.sweeper.meet(&moving(ball, &motion, None), piece, step)
    }

    fn surfaces(&mut self, a: &Mesh, ma: &Motion, b: &Mesh, mb: &Motion, step: f64, reach: (f64, f64)) {
        let path = (mb.velocity - ma.velocity) * step;
        let turning = step * (ma.spin.norm() * (reach.0 + path.norm()) + mb.spin.norm() * (reach.1 + path.norm()));
        let margin = path.norm() + turning + ma.allowance + mb.allowance + SLACK * smaller(reach.0, reach.1);
        let into = |mesh: &Motion, p: &Vec3| mesh.pose.rotation.tr_mul(&(p - mesh.pose.translation));
        let whole = |p: Vec3, r: f64| {
            let r = Vec3::repeat(r + margin);
            Aabb::new(vector(&(p - r)), vector(&(p + r)))
        };
        collect(a, &whole(into(ma, &mb.pose.translation), reach.1), &mut self.near);
        for k in 0..self.near.len() {
            let of_a = piece_of(a, self.near[k] as usize, ma);
            if !self.is_reached(mb, reach.1, &of_a, step) {
                continue;
            }
            collect(b, &whole(into(mb, &of_a.placed.position), of_a.placed.reach), &mut self.near_other);
            for &other in &self.near_other {
                let of_b = piece_of(b, other as usize, mb);
                self.sweeper.find_contacts(&of_a, &of_b, step, &mut self.found);
            }
        }
    }
}

/// Triangles near a box, in order.
fn collect(mesh: &Mesh, bounds: &Aabb, out: &mut Vec<u32>) {
    out.clear();
    out.extend(mesh.touched(bounds));
    out.sort_unstable();
}

fn moving<'a>(placed: Placed<'a>, motion: &Motion, surface: Option<(&'a Mesh, usize)>) -> Moving<'a> {
    Moving { placed, velocity: motion.velocity, spin: motion.spin, allowance: motion.allowance, surface }
}

/// A triangle as a convex piece.
fn piece_of<'a>(mesh: &'a Mesh, triangle: usize, motion: &Motion) -> Moving<'a> {
    static NONE: Core = Core::Point;
    let core = mesh.cores.get(triangle).unwrap_or(&NONE);
    let (centroid, reach) = (mesh.centroids[triangle], mesh.reaches[triangle]);
    let position = motion.pose.point(&centroid);
    let lever = motion.pose.rotation * centroid;
    let placed = Placed { core, rotation: motion.pose.rotation, position, radius: 0.0, reach };
    let velocity = motion.velocity + motion.spin.cross(&lever);
    Moving { placed, velocity, spin: motion.spin, allowance: motion.allowance, surface: Some((mesh, triangle)) }
}

/// Numbers contacts of one name, in the order in which they were found.
fn tell_apart(found: &mut [Found]) {
    let mut first = 0;
    for i in 1..found.len() {
        if found[i].feature != found[first].feature {
            first = i;
        } else {
            found[i].feature = name::with_ordinal(found[first].feature, (i - first) as u64);
        }
    }
    // Numbers stand above the names of other corners.
    found.sort_unstable_by_key(|f| f.feature);
}
