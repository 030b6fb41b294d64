//! Hard contact problems that are solvable by construction.
//!
//! Bodies with random inertia (mass ratios up to 10⁶) touch each other in a random graph, several contacts per pair, so
//! that W = J M⁻¹ Jᵀ is full-rank or far from it. A solution (r, u) is drawn first, contact by contact: open, stuck, sliding, and
//! the borders between them; then u_free = u − W r. Nothing else is known about the problem: it may have other solutions.

use signorini::contact::cone::{Polygon, Polyhedron};
use signorini::contact::delassus::{BodyJacobian, FactoredDelassus};
use signorini::contact::{Cone, ContactProblem};

/// A small generator of random numbers: SplitMix64, so that a seed means the same problem for ever.
#[derive(Debug, Clone)]
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in [a, b).
    pub fn between(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * self.unit()
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    /// Roughly normal: the sum of twelve uniforms.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }

    pub fn direction(&mut self) -> [f64; 3] {
        loop {
            let v = [self.normal(), self.normal(), self.normal()];
            let n = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt();
            if n > 0.1 {
                return v.map(|x| x / n);
            }
        }
    }
}

/// What a contact problem of the generator looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Law {
    Frictionless,
    Planar,
    Circular,
    Rolling,
    Polygonal,
    Ellipsoidal,
    Cylindrical,
    Polyhedral,
    /// Contacts of all laws beside each other.
    Mixed,
}

impl Law {
    /// The law of a contact.
    fn of(self, contact: usize) -> Self {
        use Law::*;
        let all = [Circular, Ellipsoidal, Frictionless, Polyhedral, Rolling, Polygonal, Cylindrical];
        if self == Mixed { all[contact % all.len()] } else { self }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Recipe {
    pub law: Law,
    pub n_bodies: usize,
    pub n_contacts: usize,
    /// Contacts per touching pair: 1 gives a W of nearly full rank, 4 and more a rank-deficient one.
    pub per_pair: usize,
    /// Decades of mass ratio.
    pub decades: f64,
    /// Largest friction coefficient.
    pub max_mu: f64,
    /// Piled up: body k rests on a body shortly before it. Otherwise any two bodies touch.
    pub stacked: bool,
}

impl Recipe {
    /// A recipe from a seed, over the whole range of what must be solved.
    pub fn random(law: Law, max_contacts: usize, rng: &mut Rng) -> Self {
        let n_contacts = 1 + (rng.unit().powi(2) * max_contacts as f64) as usize;
        let per_pair = 1 + rng.below(5);
        Self {
            law,
            n_bodies: 1 + (n_contacts as f64 * rng.between(0.2, 1.0) / per_pair as f64) as usize,
            n_contacts,
            per_pair,
            decades: rng.between(0.0, 6.0),
            max_mu: if rng.unit() < 0.7 { rng.between(0.0, 1.2) } else { rng.between(0.0, 5.0) },
            stacked: rng.unit() < 0.5,
        }
    }
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Rows of a contact at `point` (from the body's centre): forces along the frame, then moments about it.
fn jacobian(frame: &[[f64; 3]; 3], point: [f64; 3], law: Law, sign: f64) -> Vec<f64> {
    let mut rows = Vec::new();
    let mut force = |axis: [f64; 3]| {
        let arm = cross(point, axis);
        rows.extend(arm.iter().chain(&axis).map(|x| sign * x));
    };
    force(frame[0]);
    match law {
        Law::Frictionless => {}
        Law::Planar => force(frame[1]),
        _ => {
            force(frame[1]);
            force(frame[2]);
        }
    }
    let mut moment = |axis: [f64; 3]| {
        rows.extend(axis.iter().map(|x| sign * x));
        rows.extend([0.0; 3]);
    };
    match law {
        Law::Rolling => {
            moment(frame[1]);
            moment(frame[2]);
        }
        Law::Ellipsoidal | Law::Cylindrical | Law::Polyhedral => moment(frame[0]),
        _ => {}
    }
    rows
}

/// The operator of a recipe: W = J M⁻¹ Jᵀ.
pub fn operator(recipe: &Recipe, rng: &mut Rng) -> FactoredDelassus {
    let mut inverse = Vec::new();
    for _ in 0..recipe.n_bodies {
        let mass = 10f64.powf(rng.between(0.0, recipe.decades));
        let mut m = [0.0; 36];
        for k in 0..3 {
            m[7 * k] = 1.0 / (mass * rng.between(0.05, 0.4));
            m[7 * (k + 3)] = 1.0 / mass;
        }
        inverse.push(m);
    }
    let mut contacts = Vec::new();
    while contacts.len() < recipe.n_contacts {
        let a = rng.below(recipe.n_bodies);
        // The ground, or another body.
        let other = if a == 0 || rng.unit() < 0.2 {
            None
        } else if recipe.stacked {
            Some(a - 1 - rng.below(a.min(3)))
        } else {
            Some(rng.below(a))
        };
        let normal = rng.direction();
        let helper = rng.direction();
        let t1 = cross(normal, helper);
        let size = (t1[0] * t1[0] + t1[1] * t1[1] + t1[2] * t1[2]).sqrt();
        if size < 0.1 {
            continue;
        }
        let t1 = t1.map(|x| x / size);
        let frame = [normal, t1, cross(normal, t1)];
        for _ in 0..recipe.per_pair.min(recipe.n_contacts - contacts.len()) {
            let law = recipe.law.of(contacts.len());
            // Points of one face: a common distance along the normal, anywhere across it.
            let (x, y) = (rng.between(-1.0, 1.0), rng.between(-1.0, 1.0));
            let point = |h: f64| [0, 1, 2].map(|k| h * frame[0][k] + x * frame[1][k] + y * frame[2][k]);
            let mut rows = vec![BodyJacobian { body: a, rows: jacobian(&frame, point(-0.5), law, 1.0) }];
            if let Some(b) = other {
                rows.push(BodyJacobian { body: b, rows: jacobian(&frame, point(0.5), law, -1.0) });
            }
            contacts.push(rows);
        }
    }
    FactoredDelassus::build(contacts, inverse).expect("sizes agree by construction")
}

fn cone(recipe: &Recipe, contact: usize, rng: &mut Rng) -> Cone {
    let mu = rng.between(0.0, recipe.max_mu);
    match recipe.law.of(contact) {
        Law::Frictionless => Cone::Unilateral,
        Law::Planar => Cone::planar(mu),
        Law::Circular => Cone::circular(mu),
        Law::Rolling => Cone::rolling(mu, mu * rng.between(0.0, 0.3)),
        Law::Polygonal => Cone::polygonal(Polygon::regular(mu + 0.01, 3 + rng.below(6))),
        Law::Ellipsoidal => Cone::ellipsoidal(mu, [1.0, rng.between(0.3, 1.0), rng.between(0.05, 0.3)]),
        Law::Cylindrical => Cone::cylindrical(mu, [1.0, rng.between(0.3, 0.9), rng.between(0.05, 0.3)]),
        Law::Polyhedral => {
            // Planes tangent to an ellipsoid, on both sides in four directions and then anywhere.
            let e = [mu + 0.01, (mu + 0.01) * rng.between(0.3, 1.0), (mu + 0.01) * rng.between(0.05, 0.3)];
            let tangent = |n: [f64; 3]| [n[0] / e[0], n[1] / e[1], n[2] / e[2]];
            let third = 1.0 / 3f64.sqrt();
            let mut rows = Vec::new();
            for corner in
                [[third, third, third], [third, -third, -third], [-third, third, -third], [-third, -third, third]]
            {
                rows.extend([tangent(corner), tangent(corner.map(|x| -x))]);
            }
            for _ in 0..rng.below(8) {
                rows.push(tangent(rng.direction()));
            }
            Cone::polyhedral(Polyhedron::new(rows))
        }
        Law::Mixed => unreachable!("every contact has a law of its own"),
    }
}

/// One contact of a solution: (r, u) that obey the law exactly, at the sizes given.
fn draw(cone: &Cone, force: f64, speed: f64, rng: &mut Rng) -> (Vec<f64>, Vec<f64>) {
    let dim = cone.dim();
    let (mut r, mut u) = (vec![0.0; dim], vec![0.0; dim]);
    let mode = rng.unit();
    let Cone::Friction(section) = cone else {
        if mode < 0.4 {
            u[0] = speed * rng.unit();
        } else if mode < 0.95 {
            r[0] = force * rng.unit();
        }
        return (r, u);
    };
    if mode < 0.3 {
        // Open.
        u[0] = speed * rng.unit();
        u[1..].iter_mut().for_each(|x| *x = speed * rng.normal());
    } else if mode < 0.65 {
        // Stuck: somewhere inside the cone, sometimes on its border.
        r[0] = force * rng.unit();
        let mut y: Vec<f64> = (1..dim).map(|_| rng.normal()).collect();
        section.support_point(&y.clone(), &mut y);
        let f = if rng.unit() < 0.05 { 1.0 } else { rng.unit() };
        r[1..].iter_mut().zip(&y).for_each(|(r, y)| *r = force * f * y);
        let f = r[0] / force;
        r[1..].iter_mut().for_each(|x| *x *= f);
    } else if mode < 0.97 {
        // Sliding against maximum dissipation.
        r[0] = force * rng.unit();
        u[1..].iter_mut().for_each(|x| *x = speed * rng.normal());
        let minus: Vec<f64> = u[1..].iter().map(|x| -x).collect();
        let mut y = vec![0.0; dim - 1];
        section.support_point(&minus, &mut y);
        for k in 1..dim {
            r[k] = r[0] * y[k - 1];
        }
    }
    // Else grazing: r = 0 and u = 0.
    (r, u)
}

/// A problem of a recipe, with the solution that it was built around.
pub fn problem(recipe: &Recipe, rng: &mut Rng) -> (ContactProblem, Vec<f64>) {
    use signorini::contact::delassus::Delassus;
    let w = operator(recipe, rng);
    let cones: Vec<Cone> = (0..recipe.n_contacts).map(|c| cone(recipe, c, rng)).collect();
    let n = w.n_rows();
    let mut diagonal = vec![0.0; n];
    w.write_diagonal(&mut diagonal);
    let (mut r, mut u) = (Vec::new(), Vec::new());
    for cone in &cones {
        // Impulses of the size that moves the lighter partner at unit speed.
        let (a, b) = draw(cone, 1.0 / diagonal[r.len()], 1.0, rng);
        r.extend(a);
        u.extend(b);
    }
    let mut wr = vec![0.0; n];
    w.apply(&r, &mut wr);
    let q = u.iter().zip(&wr).map(|(u, w)| u - w).collect();
    (ContactProblem::build(w, q, cones).expect("laws are valid by construction"), r)
}
