//! Hulls: known solids, every point inside, degenerate sets, scaling.

use super::*;
use crate::scene::solid::Solid;
use proptest::prelude::*;

/// Every point is on the inner side of every facet, exactly, and Euler's formula holds.
fn check_hull(points: &[[f64; 3]], hull: &TriangleMesh) {
    let coord = |p: [f64; 3]| Coord3D { x: p[0], y: p[1], z: p[2] };
    for triangle in &hull.triangles {
        let [a, b, c] = triangle.map(|v| coord(hull.vertices[v as usize]));
        for &point in points {
            assert!(orient3d(a, b, c, coord(point)) >= 0.0, "{point:?} is outside");
        }
    }
    assert_eq!(hull.triangles.len(), 2 * hull.vertices.len() - 4);
}

#[test]
fn a_tetrahedron_is_its_own_hull() {
    let points = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let hull = convex_hull(&points).unwrap();
    assert_eq!(hull.vertices, points);
    check_hull(&points, &hull);
}

/// A grid of points in a cube: thousands of them in each face's plane, and on each edge's line.
#[test]
fn a_grid_gives_the_eight_corners_of_a_cube() {
    let n = 8;
    let mut points = Vec::new();
    for i in 0..=n {
        for j in 0..=n {
            for k in 0..=n {
                points.push([i as f64, j as f64, k as f64]);
            }
        }
    }
    points.extend(points.clone());
    let hull = convex_hull(&points).unwrap();
    assert_eq!((hull.vertices.len(), hull.triangles.len()), (8, 12));
    check_hull(&points, &hull);
    // All numbers are small integers until the division by six: the sum of twelve terms rounds a few times.
    assert!((Solid::of_mesh(&hull).volume / 512.0 - 1.0).abs() < 1e-14);
}

#[test]
fn a_grid_that_is_turned_is_flat_only_to_rounding() {
    let rotation = nalgebra::UnitQuaternion::from_euler_angles(0.3, 0.7, 1.1);
    let turned = |i: usize, j: usize, k: usize| -> [f64; 3] {
        (rotation * nalgebra::Vector3::new(i as f64, j as f64, k as f64)).into()
    };
    let cube: Vec<_> = (0..343).map(|n| turned(n / 49, n / 7 % 7, n % 7)).collect();
    let hull = convex_hull(&cube).unwrap();
    check_hull(&cube, &hull);
    // Rounding moves points of a face by 1e-15; the volume within it is right to as much, times a few faces.
    assert!((Solid::of_mesh(&hull).volume / 216.0 - 1.0).abs() < 1e-13);

    let plate: Vec<_> = (0..49).map(|n| turned(n / 7, n % 7, 0)).collect();
    assert_eq!(convex_hull(&plate), Err(HullError::Flat));
}

#[test]
fn points_without_volume_are_refused() {
    let line: Vec<_> = (0..10).map(|i| [i as f64, 2.0 * i as f64, 0.0]).collect();
    assert_eq!(convex_hull(&line), Err(HullError::Flat));
    assert_eq!(convex_hull(&[[3.0; 3]; 10]), Err(HullError::Flat));
    assert_eq!(convex_hull(&[[0.0; 3]; 10]), Err(HullError::Flat));
    assert_eq!(convex_hull(&[[0.0; 3]; 3]), Err(HullError::TooFew(3)));
    assert_eq!(convex_hull(&[[f64::NAN; 3]; 4]), Err(HullError::NotFinite));
}

#[test]
fn many_points_on_a_sphere_are_all_corners() {
    let golden = std::f64::consts::PI * (3.0 - 5f64.sqrt());
    let n = 20_000;
    let points: Vec<[f64; 3]> = (0..n)
        .map(|i| {
            let z = 1.0 - (2 * i + 1) as f64 / n as f64;
            let (sin, cos) = (golden * i as f64).sin_cos();
            [(1.0 - z * z).sqrt() * cos, (1.0 - z * z).sqrt() * sin, z]
        })
        .collect();
    let hull = convex_hull(&points).unwrap();
    assert_eq!((hull.vertices.len(), hull.triangles.len()), (n, 2 * n - 4));
    // A polyhedron of n triangles of edge s inside the unit sphere misses about s²/8 of its radius, s² ≈ 2π/n · 2/√3·…
    let missing = 1.0 - Solid::of_mesh(&hull).volume / (4.0 / 3.0 * std::f64::consts::PI);
    assert!(missing > 0.0 && missing < 20.0 / n as f64, "{missing}");
}

proptest! {
    /// Coordinates from few values make coincident, collinear and coplanar points the rule.
    #[test]
    fn every_point_is_inside(points in prop::collection::vec(prop::array::uniform3((-3..4).prop_map(|x| x as f64 / 3.0)), 4..40)) {
        match convex_hull(&points) {
            Ok(hull) => check_hull(&points, &hull),
            Err(error) => prop_assert_eq!(error, HullError::Flat),
        }
    }

    #[test]
    fn powers_of_two_scale_the_hull(points in prop::collection::vec(prop::array::uniform3(-1.0..1.0), 4..40), k in -300..300) {
        let scale = |points: &[[f64; 3]]| -> Vec<[f64; 3]> { points.iter().map(|p| p.map(|x| x * 2f64.powi(k))).collect() };
        let hull = convex_hull(&points).unwrap();
        let scaled = convex_hull(&scale(&points)).unwrap();
        prop_assert_eq!(&hull.triangles, &scaled.triangles);
        prop_assert_eq!(scale(&hull.vertices), scaled.vertices);
    }

    #[test]
    fn wild_coordinates_give_a_hull_or_an_error(points in prop::collection::vec(prop::array::uniform3(any::<f64>()), 0..12)) {
        if let Ok(hull) = convex_hull(&points) {
            prop_assert!(hull.triangles.len() >= 4);
        }
    }
}
