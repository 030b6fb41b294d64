//! Properties of the cones: projections, supports, polars, derivatives.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use proptest::prelude::*;
use signorini::contact::Cone;
use signorini::contact::cone::{Polygon, Polyhedron, Section, SectionJacobian};

fn cones() -> impl Strategy<Value = Cone> {
    let mu = prop_oneof![Just(0.0), 0.01..5.0];
    let e = 0.05..1.0;
    prop_oneof![
        Just(Cone::Unilateral),
        mu.clone().prop_map(Cone::planar),
        mu.clone().prop_map(Cone::circular),
        (mu.clone(), 0.0..0.5).prop_map(|(mu, r)| Cone::rolling(mu, r)),
        (mu.clone(), 0.01..0.5).prop_map(|(mu, r)| Cone::mixed(mu, r)),
        (0.01..5.0, e.clone(), e.clone()).prop_map(|(mu, a, b)| Cone::elliptic(mu, [a, b])),
        (0.01..5.0, e.clone(), e.clone(), e.clone()).prop_map(|(mu, a, b, c)| Cone::ellipsoidal(mu, [a, b, c])),
        (0.01..5.0, e.clone(), e.clone(), e).prop_map(|(mu, a, b, c)| Cone::cylindrical(mu, [a, b, c])),
        (0.1..2.0f64, 0.1..2.0f64, 0.1..2.0f64, 0.0..0.5f64).prop_map(|(a, b, c, tilt)| {
            // A box with tilted sides, and corners cut off.
            let mut rows =
                vec![[1.0 / a, tilt, 0.0], [-1.0 / a, 0.0, tilt], [0.0, 1.0 / b, 0.0], [tilt, -1.0 / b, 0.0]];
            rows.extend([
                [0.0, 0.0, 1.0 / c],
                [0.0, tilt, -1.0 / c],
                [0.6 / a, 0.6 / b, 0.6 / c],
                [-0.6 / a, -0.6 / b, 0.6 / c],
            ]);
            Cone::polyhedral(Polyhedron::new(rows))
        }),
        (0.01..5.0, 3usize..12).prop_map(|(mu, n)| Cone::polygonal(Polygon::regular(mu, n))),
        (0.1..2.0f64, 0.1..2.0f64, 0.1..2.0f64, 0.1..2.0f64).prop_map(|(a, b, c, d)| {
            // Anisotropic: four directions of different strength.
            Cone::polygonal(Polygon::hull(&[[a, 0.0], [0.0, b], [-c, 0.0], [0.0, -d]]))
        }),
    ]
}

fn vector() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-2.0..2.0, 6)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Rounding of projections found by a scalar root: a few hundred ε of vectors of size up to ten.
const ROUNDING: f64 = 1e-12;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Moreau: z = P_K(z) + P_K°(z), orthogonal, and the polar part makes an obtuse angle with every element of K.
    #[test]
    fn projection_satisfies_the_variational_inequality(cone in cones(), z in vector(), w in vector()) {
        let dim = cone.dim();
        let z = &z[..dim];
        let mut p = z.to_vec();
        cone.project(&mut p);
        let mut polar = z.to_vec();
        cone.project_polar(&mut polar);
        prop_assert!(dot(&p, &polar).abs() <= ROUNDING * (1.0 + dot(z, z)), "{p:?} {polar:?}");
        // Any other element of the cone: the projection of any point.
        let mut k = w[..dim].to_vec();
        cone.project(&mut k);
        prop_assert!(dot(&polar, &k) <= ROUNDING * (1.0 + dot(z, z) + dot(&k, &k)), "{polar:?} {k:?}");
        // Idempotence.
        let mut again = p.clone();
        cone.project(&mut again);
        for (a, b) in again.iter().zip(&p) {
            prop_assert!((a - b).abs() <= ROUNDING * (1.0 + dot(z, z)), "{again:?} {p:?}");
        }
    }

    /// The support is attained at its point, which lies in the section, and bounds every other point.
    #[test]
    fn support_is_the_largest_work(cone in cones(), y in vector(), w in vector()) {
        let Cone::Friction(section) = &cone else { return Ok(()) };
        let dim = section.dim();
        let (y, mut c) = (&y[..dim], vec![0.0; dim]);
        section.support_point(y, &mut c);
        prop_assert!((dot(y, &c) - section.support(y)).abs() <= ROUNDING * 100.0);
        let mut inside = c.clone();
        section.project(1.0, &mut inside);
        for (a, b) in inside.iter().zip(&c) {
            prop_assert!((a - b).abs() <= ROUNDING * 100.0, "{inside:?} {c:?}");
        }
        let mut other = w[..dim].to_vec();
        section.project(1.0, &mut other);
        prop_assert!(dot(y, &other) <= section.support(y) + ROUNDING * 100.0);
    }

    /// The box of the rows bounded one by one lies within the section, and its corner in the direction given is on the edge.
    #[test]
    fn boxes_lie_within_sections(cone in cones(), towards in vector(), s in 0.1..3.0f64) {
        let Cone::Friction(section) = &cone else { return Ok(()) };
        let n = section.dim();
        for towards in [&towards[..n], &[0.0; 5][..n]] {
            let mut half = [0.0; 5];
            section.box_at(s, towards, &mut half[..n]);
            for corner in 0..1 << n {
                let x: Vec<f64> = (0..n).map(|k| if corner >> k & 1 == 0 { half[k] } else { -half[k] }).collect();
                let mut p = x.clone();
                section.project(s, &mut p);
                let off = p.iter().zip(&x).map(|(p, x)| (p - x).abs()).fold(0.0, f64::max);
                prop_assert!(off <= ROUNDING * (1.0 + s), "{x:?} {p:?}");
            }
            // The corner towards the direction is the largest multiple of it in a section that is symmetric about the axes.
            let is_symmetric = !matches!(section, Section::Polygon(_) | Section::Polyhedron(_) | Section::Balls { .. } | Section::Cylinder { .. });
            if is_symmetric && towards.iter().any(|t| *t != 0.0) {
                let mut out: Vec<f64> = half[..n].iter().map(|x| 1.001 * x).collect();
                let beyond = out.clone();
                section.project(s, &mut out);
                prop_assert!(section.support(&[1.0; 5][..n]) == 0.0 || out != beyond, "{beyond:?}");
            }
        }
    }

    /// The derivative of P_{sC}(y) against central differences, away from the kinks.
    #[test]
    fn derivative_of_the_section_projection(cone in cones(), y in vector(), s in 0.2..2.0f64) {
        let Cone::Friction(section) = &cone else { return Ok(()) };
        let dim = section.dim();
        let y = &y[..dim];
        let at = |s: f64, y: &[f64]| { let mut p = y.to_vec(); section.project(s, &mut p); p };
        let mut jacobian = SectionJacobian::default();
        let mut p = y.to_vec();
        section.project_with_jacobian(s, &mut p, &mut jacobian);
        prop_assert_eq!(&p, &at(s, y));
        // Second order in h: errors of h² times the curvature, ε/h of cancellation. A kink within h of the point shows as
        // one-sided differences that disagree; such points are skipped.
        let h = 1e-6;
        for j in 0..=dim {
            let (mut plus, mut minus, mut sp, mut sm) = (y.to_vec(), y.to_vec(), s, s);
            if j < dim { plus[j] += h; minus[j] -= h } else { sp += h; sm -= h }
            let (a, b) = (at(sp, &plus), at(sm, &minus));
            let smooth = (0..dim).all(|i| ((a[i] - p[i]) - (p[i] - b[i])).abs() <= 1e-3 * h);
            if !smooth { continue }
            for i in 0..dim {
                let expected = (a[i] - b[i]) / (2.0 * h);
                let found = if j < dim { jacobian.dy[i][j] } else { jacobian.ds[i] };
                prop_assert!((found - expected).abs() <= 1e-4 * (1.0 + expected.abs()), "{j} {i} {found} {expected}");
            }
        }
    }
}

#[test]
fn curved_sections_equal_their_limits() {
    // A ball written as an ellipsoid, and a polygon of many directions, are nearly a disc.
    let (disc, ellipse) = (Cone::circular(0.7), Cone::elliptic(0.7, [1.0, 1.0]));
    let polygon = Cone::polygonal(Polygon::regular(0.7, 720));
    for k in 0..50 {
        let angle = 0.37 * f64::from(k);
        let z = [angle.sin(), 1.3 * angle.cos(), 0.4 - angle.cos()];
        let project = |cone: &Cone| {
            let mut p = z;
            cone.project(&mut p);
            p
        };
        let (a, b, c) = (project(&disc), project(&ellipse), project(&polygon));
        for i in 0..3 {
            assert!((a[i] - b[i]).abs() < 1e-13, "{a:?} {b:?}");
            // On a flat facet the foot is off by up to an edge: 2π μ s / 720 ≈ 6e-3 s.
            assert!((a[i] - c[i]).abs() < 6e-3 * a[0].max(1e-9), "{a:?} {c:?}");
        }
    }
}

/// Friction of a sliding contact per unit of normal force (paper 002: maximum work), closed-form values.
#[test]
fn sliding_forces_of_limit_surfaces() {
    let e = [1.0, 0.8, 0.12];
    let v = [0.6, -0.35, 4.0];
    let cases = [
        (Section::Ellipsoid { dim: 3, axes: e }, [-5.1357178744674, 1.9173346731345, -0.49302891594887]),
        // Mixed with a disc of forces: direction −v_t/‖v_t‖, moment at its bound.
        (
            Section::Balls { dims: [2, 1], radii: [1.0, 0.12] },
            [-7.0 * 0.6 / 0.6946221994724902, 7.0 * 0.35 / 0.6946221994724902, -0.84],
        ),
    ];
    for (section, expected) in cases {
        let minus = v.map(|x: f64| -x);
        let mut c = [0.0; 3];
        section.support_point(&minus, &mut c);
        for i in 0..3 {
            // μ c_n = 7.
            assert!((7.0 * c[i] - expected[i]).abs() < 1e-12 * expected[i].abs(), "{c:?} {expected:?}");
        }
    }
}
