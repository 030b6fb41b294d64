//! Joint kinds and axes.
// The exception for tests does not reach their helper functions.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use nalgebra::Vector3;
use proptest::prelude::*;
use signorini::scene::schema::accepted_keys;
use signorini::scene::{Joint, JointKind};

#[test]
fn names_are_those_of_the_files() {
    let kinds = accepted_keys().into_iter().find(|key| (key.table, key.key) == ("joint", "kind")).unwrap().value;
    let names: Vec<String> = JointKind::ALL.iter().map(|kind| format!("`{}`", kind.name())).collect();
    assert_eq!(kinds, names.join(", "));
    for kind in JointKind::ALL {
        assert_eq!(toml::Value::try_from(kind).unwrap().as_str(), Some(kind.name()));
    }
}

/// A quaternion has one number more than the speeds it belongs to; nothing else does.
#[test]
fn coordinates_and_speeds() {
    for kind in JointKind::ALL {
        assert_eq!(kind.n_q(), kind.n_v() + usize::from(kind.quaternion_at().is_some()), "{kind:?}");
    }
    let speeds: Vec<usize> = JointKind::ALL.iter().map(|kind| kind.n_v()).collect();
    assert_eq!(speeds, [0, 1, 1, 1, 2, 2, 3, 3, 6]);
}

fn axes(kind: JointKind, axis: Option<[f64; 3]>, axis2: Option<[f64; 3]>) -> (Vector3<f64>, Vector3<f64>) {
    Joint { kind, axis, axis2, ..Joint::default() }.axes()
}

#[test]
fn axes_unless_given() {
    let (x, y, z) = (Vector3::x(), Vector3::y(), Vector3::z());
    assert_eq!(axes(JointKind::Universal, None, None), (x, y));
    for kind in [JointKind::Revolute, JointKind::Prismatic, JointKind::Screw, JointKind::Cylindrical, JointKind::Planar]
    {
        assert_eq!(axes(kind, None, None), (z, x));
    }
    assert_eq!(axes(JointKind::Planar, Some([0.0, 0.0, -2.0]), None), (-z, x));
    assert_eq!(axes(JointKind::Planar, Some([3.0, 0.0, 0.0]), None), (x, -z));
    assert_eq!(axes(JointKind::Planar, Some([0.0, 5.0, 0.0]), None), (y, x));
    assert_eq!(axes(JointKind::Planar, None, Some([0.0, 5.0, 0.0])), (z, y));
    assert_eq!(axes(JointKind::Universal, Some([0.0, 0.0, 7.0]), Some([1e-9, 0.0, 0.0])), (z, x));
}

proptest! {
    #[test]
    fn axes_are_orthonormal(kind in prop::sample::select(JointKind::ALL.to_vec()), axis in prop::option::of(prop::array::uniform3(-2.0..2.0)), axis2 in prop::option::of(prop::array::uniform3(-2.0..2.0))) {
        let (a, b) = axes(kind, axis, axis2);
        // A handful of roundings each.
        prop_assert!((a.norm() - 1.0).abs() < 1e-15 && (b.norm() - 1.0).abs() < 1e-15);
        prop_assert!(a.dot(&b).abs() < 1e-15);
    }

    /// Whatever is written, there is an answer.
    #[test]
    fn axes_never_fail(axis in prop::array::uniform3(any::<f64>()), axis2 in prop::array::uniform3(any::<f64>())) {
        let (a, b) = axes(JointKind::Planar, Some(axis), Some(axis2));
        prop_assert!((a.norm() - 1.0).abs() < 1e-15 && (b.norm() - 1.0).abs() < 1e-15);
        prop_assert!(a.dot(&b).abs() < 1e-15);
    }
}
