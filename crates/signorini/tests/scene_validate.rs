//! Validation of scenes that never were a file.
// The exception for tests does not reach their helper functions.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use proptest::prelude::*;
use serde::Deserialize;
use signorini::scene::validate::{is_name, validate};
use signorini::scene::*;
use toml::Value;

mod scene_strategies;
use scene_strategies::scene;

/// Key paths of all numbers that are not integers.
fn numbers(value: &Value, path: String, found: &mut Vec<String>) {
    match value {
        Value::Float(_) => found.push(path),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, item)| numbers(item, format!("{path}[{i}]"), found));
        }
        Value::Table(table) => {
            for (key, value) in table {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                numbers(value, path, found);
            }
        }
        _ => {}
    }
}

fn set(value: &mut Value, path: &str, number: f64) {
    let mut place = value;
    for segment in path.split(['.', '[']) {
        place = match segment.strip_suffix(']') {
            Some(index) => &mut place[index.parse::<usize>().unwrap()],
            None => &mut place[segment],
        };
    }
    *place = Value::Float(number);
}

proptest! {
    /// One number that is not finite, anywhere: it is found, and at its place.
    #[test]
    fn no_number_escapes(scene in scene(), which in any::<prop::sample::Index>(), bad in prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY])) {
        let mut value = Value::try_from(&scene).unwrap();
        let mut paths = Vec::new();
        numbers(&value, String::new(), &mut paths);
        let path = &paths[which.index(paths.len())];
        // No limit at all is a limit.
        prop_assume!(!(path.contains(".lower") && bad == f64::NEG_INFINITY));
        prop_assume!(!(path.contains(".upper") && bad == f64::INFINITY));
        set(&mut value, path, bad);
        let findings = validate(&Scene::deserialize(value).unwrap());
        let kinds = [FindingKind::NotFinite, FindingKind::OutOfRange];
        let is_found = findings.iter().any(|finding| &finding.path == path && kinds.contains(&finding.kind));
        prop_assert!(is_found, "{}: {:?}", path, findings);
    }
}

fn arm() -> Body {
    Body { name: "arm".into(), mass: Some(1.0), inertia: Some(vec![1.0; 3]), ..Body::default() }
}

fn scene_of(body: Vec<Body>, joint: Vec<Joint>) -> Scene {
    Scene { time: Time { end: 1.0, ..Time::default() }, body, joint, ..Scene::default() }
}

fn kinds(scene: &Scene) -> Vec<FindingKind> {
    validate(scene).into_iter().map(|finding| finding.kind).collect()
}

#[test]
fn an_empty_scene_says_what_it_lacks() {
    let paths: Vec<String> = validate(&Scene::default()).into_iter().map(|finding| finding.path).collect();
    assert_eq!(paths, ["time.end", "body"]);
}

#[test]
fn inertias_at_the_edge_of_the_possible() {
    let with = |inertia: &[f64]| kinds(&scene_of(vec![Body { inertia: Some(inertia.to_vec()), ..arm() }], vec![]));
    // A slender rod, a point, a plate, a plate written with six digits.
    for possible in [&[1.0, 1.0, 0.0], &[0.0; 3], &[1.0, 2.0, 3.0], &[0.333333, 0.333333, 0.666667]] {
        assert_eq!(with(possible), [], "{possible:?}");
    }
    // Just beyond, in units large and small: the allowance is relative.
    for unit in [1e-30, 1.0, 1e30] {
        assert_eq!(with(&[unit, unit, 2.0 * unit * (1.0 + 0.9e-5)]), []);
        assert_eq!(with(&[unit, unit, 2.0 * unit * (1.0 + 1.1e-5)]), [FindingKind::Inertia]);
        assert_eq!(with(&[unit, unit, -1e-300]), [FindingKind::Inertia]);
    }
    // The rod turned by 45° about z: principal moments 0, 1, 1, of which rounding may make −1e-17.
    assert_eq!(with(&[0.5, 0.5, 1.0, -0.5, 0.0, 0.0]), []);
    assert_eq!(with(&[0.5, 0.5, 1.0, -0.5001, 0.0, 0.0]), [FindingKind::Inertia]);
    assert_eq!(with(&[1.0, 1.0]), [FindingKind::WrongLength]);
}

#[test]
fn perpendicular_as_far_as_six_digits_go() {
    let with = |slip: f64| {
        let axis2 = Some([1e3, 0.0, 1e3 * slip]);
        let joint = Joint { kind: JointKind::Planar, axis2, ..hinge() };
        kinds(&scene_of(vec![arm()], vec![joint]))
    };
    assert_eq!(with(0.9e-5), []);
    assert_eq!(with(1.1e-5), [FindingKind::Axis]);
}

fn hinge() -> Joint {
    Joint { name: "hinge".into(), parent: "ground".into(), child: "arm".into(), ..Joint::default() }
}

#[test]
fn the_ground_may_be_on_either_side_of_a_joint() {
    let backwards = Joint { parent: "arm".into(), child: "ground".into(), ..hinge() };
    assert_eq!(kinds(&scene_of(vec![arm()], vec![backwards])), []);
}

#[test]
fn the_ground_is_one() {
    let ground = || Body { name: GROUND.into(), ..Body::default() };
    assert_eq!(kinds(&scene_of(vec![ground(), arm()], vec![])), []);
    assert_eq!(kinds(&scene_of(vec![ground(), arm(), ground()], vec![])), [FindingKind::DuplicateName]);
}

#[test]
fn findings_are_no_more_than_a_list_can_hold() {
    let nameless = vec![Body::default(); 10 * MAX_FINDINGS];
    assert_eq!(validate(&scene_of(nameless, vec![])).len(), MAX_FINDINGS);
}

#[test]
fn names() {
    for name in ["a", "link_12", "left-arm", "robot/arm:1", "Ψ2", "β+"] {
        assert!(is_name(name), "{name}");
    }
    for name in ["", "a.b", "a b", "a*", "a?", "a[0]", "a\"", "a,b", "a\n", "`", &"x".repeat(101)] {
        assert!(!is_name(name), "{name}");
    }
}
