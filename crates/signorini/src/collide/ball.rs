//! Contacts of balls: two of them, or one on a half-space.
//!
//! **Problem.** What [`sweep`](super::sweep) does for convex pieces, where both cores are points.
//!
//! **Method.** The same, with what points leave of it: the only direction is that from centre to centre, along it the separation is
//! reached, and turning changes nothing. Every number is computed as there, so that the bits are the same.
//!
//! **Cost.** Some tens of operations; a few more for every advance of a fast pair.
//!
//! **Fails when** centres coincide, or are so close that rounding has the direction: the general search is then asked.
//!
//! **Checked by** the tests below against the general search, and `tests/collide_pairs.rs`.

use super::manifold::{ABOVE_CORNER, name};
use super::pair::Motion;
use super::reduce::Found;
use super::sweep::{MAX_ADVANCES, SLACK, TOUCH, lasts, smaller};
use crate::spatial::Vec3;

/// Two balls over one step, seen from the centre of a.
struct Balls<'a> {
    a: &'a Motion,
    b: &'a Motion,
    radius_a: f64,
    radii: f64,
    /// From the centre of a to that of b at the start.
    centre: Vec3,
    step: f64,
    small: f64,
    margin: f64,
    size: f64,
}

/// Direction from centre to centre, and their distance along it.
#[derive(Clone, Copy)]
struct Line {
    normal: Vec3,
    separation: f64,
}

/// The contact of two balls, relative to the centre of a. `Err` where the direction is lost in rounding.
pub(crate) fn find_between(
    (radius_a, a): (f64, &Motion),
    (radius_b, b): (f64, &Motion),
    step: f64,
    is_held: bool,
) -> Result<Option<Found>, Lost> {
    let small = smaller(radius_a, radius_b);
    if small <= 0.0 {
        return Ok(None); // Two points never touch.
    }
    let path = (b.velocity - a.velocity) * step;
    let centre = b.pose.translation - a.pose.translation;
    let distance = centre.norm();
    let margin = path.norm() + a.allowance + b.allowance + SLACK * small;
    let radii = radius_a + radius_b;
    if distance > radii + margin {
        return Ok(None);
    }
    let balls = Balls { a, b, radius_a, radii, centre, step, small, margin, size: radii + distance };
    let start = balls.line(0.0)?;
    let gap = start.separation - radii;
    if gap > margin {
        return Ok(None);
    }
    let is_lasting = is_held && lasts(gap, path.norm(), small);
    if is_lasting || gap <= TOUCH * small || gap > -start.normal.dot(&path) {
        return Ok(balls.contact(0.0, &start, false));
    }
    let hit = balls.cast(&path, start)?;
    Ok(hit.map_or_else(|| balls.contact(0.0, &start, true), |(time, found)| balls.contact(time, &found, false)))
}

/// Rounding has the direction.
#[derive(Debug)]
pub(crate) struct Lost;

impl Balls<'_> {
    /// Centres at a part of the step.
    fn centres(&self, time: f64) -> (Vec3, Vec3) {
        let time = time * self.step;
        if time == 0.0 {
            return (Vec3::zeros(), self.centre);
        }
        (self.a.velocity * time, self.centre + self.b.velocity * time)
    }

    fn line(&self, time: f64) -> Result<Line, Lost> {
        let (a, b) = self.centres(time);
        let between = b - a;
        let distance = between.norm();
        let normal = between / distance;
        let separation = normal.dot(&between);
        let aside = (between - normal * separation).norm();
        let is_known = separation > 0.0 && aside <= ABOVE_CORNER * self.size;
        if is_known { Ok(Line { normal, separation }) } else { Err(Lost) }
    }

    /// Advances the balls until they touch. None if they do not in this step.
    fn cast(&self, path: &Vec3, start: Line) -> Result<Option<(f64, Line)>, Lost> {
        let (mut time, mut found) = (0.0, start);
        for _ in 0..MAX_ADVANCES {
            let gap = found.separation - self.radii;
            if gap <= 0.5 * TOUCH * self.small {
                break;
            }
            let closing = -found.normal.dot(path);
            if closing <= 0.0 {
                return Ok(None);
            }
            time += gap / closing;
            if time >= 1.0 {
                return Ok(None);
            }
            found = self.line(time)?;
        }
        Ok(Some((time, found)))
    }

    /// The contact along a line at a part of the step, with the gap taken back to the start.
    fn contact(&self, time: f64, line: &Line, is_miss: bool) -> Option<Found> {
        let (a, b) = self.centres(time);
        let n = line.normal;
        let on_a = a + n * self.radius_a;
        let gap = line.separation - self.radii;
        let (lever_a, lever_b) = (on_a - a, on_a + n * gap - b);
        let velocity = self.b.velocity + self.b.spin.cross(&lever_b) - self.a.velocity - self.a.spin.cross(&lever_a);
        let path = self.step * n.dot(&velocity);
        let gap = gap - time * path;
        let is_out = gap > self.margin || (is_miss && gap + path < 0.0);
        (!is_out).then(|| Found {
            on_a: lever_a,
            on_b: self.centre + lever_b,
            normal: n,
            gap,
            time,
            feature: name::of_a(0),
            is_reliable: true,
        })
    }
}

/// The contact of a ball with a half-space, which moves only as the allowance says, relative to its origin.
pub(crate) fn find_on_plane(plane: &Motion, (radius, ball): (f64, &Motion), step: f64) -> Option<Found> {
    let n = plane.pose.rotation.column(2).into_owned();
    let centre = ball.pose.translation - plane.pose.translation;
    let path = step * n.dot(&ball.velocity);
    let margin = (-path).max(0.0) + ball.allowance + plane.allowance + SLACK * radius;
    let gap = n.dot(&centre) - radius;
    (gap <= margin).then(|| {
        let on_b = centre - n * radius;
        Found { on_a: on_b - n * gap, on_b, normal: n, gap, time: 0.0, feature: name::of_b(0), is_reliable: true }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::convex::{Core, Placed};
    use crate::collide::sweep::{Moving, Sweeper};
    use crate::spatial::{Mat3, Pose};

    /// A fixed sequence in −1 … 1.
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        }

        fn vector(&mut self) -> Vec3 {
            Vec3::new(self.next(), self.next(), self.next())
        }
    }

    fn general(a: (f64, &Motion), b: (f64, &Motion), step: f64) -> Vec<Found> {
        let core = Core::Point;
        let moving = |(radius, m): (f64, &Motion), position: Vec3| Moving {
            placed: Placed { core: &core, rotation: m.pose.rotation, position, radius, reach: 0.0 },
            velocity: m.velocity,
            spin: m.spin,
            allowance: m.allowance,
            surface: None,
        };
        let mut out = Vec::new();
        let centre = b.1.pose.translation - a.1.pose.translation;
        Sweeper::default().find_contacts(&moving(a, Vec3::zeros()), &moving(b, centre), step, &mut out);
        out
    }

    #[test]
    fn two_balls_have_the_bits_of_the_general_search() {
        let mut random = Random(7);
        let (mut n_contacts, mut n_fast) = (0, 0);
        for round in 0..20_000 {
            let (radius_a, radius_b) = (0.05 + 0.01 * random.next(), 0.05 + 0.04 * random.next());
            let at = random.vector();
            // Resting, slow and fast ones, at, before and after contact.
            let speed = [0.0, 0.1, 100.0][round % 3];
            let off = [0.0, 1e-9, 0.01, 0.1][round / 3 % 4] * random.next();
            let motion = |random: &mut Random, translation: Vec3| Motion {
                pose: Pose::new(Mat3::identity(), translation),
                velocity: random.vector() * speed,
                spin: random.vector() * speed,
                allowance: 1e-4 * (1.0 + random.next()),
            };
            let a = motion(&mut random, at);
            let towards = random.vector();
            let b = motion(&mut random, at + towards * ((radius_a + radius_b + off) / towards.norm()));
            let (a, b) = ((radius_a, &a), (radius_b, &b));
            let (found, wanted) = (find_between(a, b, 1e-3, false).unwrap_or_default(), general(a, b, 1e-3));
            assert_eq!(found.iter().count(), wanted.len(), "round {round}");
            for (f, g) in found.iter().zip(&wanted) {
                assert_eq!(format!("{f:?}"), format!("{g:?}"), "round {round}");
                n_contacts += 1;
                n_fast += usize::from(speed > 1.0 && f.gap > 0.0);
            }
        }
        assert!(n_contacts > 5000 && n_fast > 500, "{n_contacts} {n_fast}");
    }

    #[test]
    fn what_has_no_direction_is_left_to_the_general_search() {
        let still = |translation: Vec3| Motion {
            pose: Pose::new(Mat3::identity(), translation),
            velocity: Vec3::zeros(),
            spin: Vec3::zeros(),
            allowance: 0.0,
        };
        let a = still(Vec3::zeros());
        for x in [0.0, 1e-200, f64::MIN_POSITIVE] {
            let b = still(Vec3::new(x, x, 0.0));
            assert!(find_between((1.0, &a), (1.0, &b), 1e-3, false).is_err(), "{x}");
        }
    }
}
