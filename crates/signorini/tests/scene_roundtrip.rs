//! Scene → TOML → Scene, for scenes that use every key.
// The exception for tests does not reach their helper functions.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use signorini::scene::mesh::load_geometry;
use signorini::scene::read::read_str;
use signorini::scene::schema::accepted_keys;
use signorini::scene::*;
use std::collections::BTreeSet;
use std::path::Path;

mod scene_strategies;
use scene_strategies::scene;

fn to_toml(scene: &Scene) -> String {
    toml::to_string(scene).unwrap()
}

proptest! {
    #[test]
    fn a_scene_survives_being_written_and_read(mut scene in scene()) {
        prop_assert_eq!(load_geometry(&mut scene, Path::new("")), []);
        let text = to_toml(&scene);
        match read_str(&text, "scene.toml", "") {
            Ok(again) => prop_assert_eq!(again, scene, "{}", text),
            Err(error) => prop_assert!(false, "{}\n{}", error, text),
        }
    }

    /// The generator makes valid scenes, and the validator says so without a file.
    #[test]
    fn a_scene_needs_no_file_to_be_valid(scene in scene()) {
        prop_assert_eq!(validate::validate(&scene), []);
    }
}

/// Every key of the schema is written by some generated scene: schema and types cover each other. Keys that name files
/// have tests with files.
#[test]
fn the_types_write_every_key_that_the_reader_accepts() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut written = BTreeSet::new();
    for _ in 0..200 {
        let scene = scene().new_tree(&mut runner).unwrap().current();
        collect(&toml::Value::try_from(&scene).unwrap(), &mut written);
    }
    let expected: BTreeSet<&str> = accepted_keys().into_iter().map(|key| key.key).collect();
    let missing: Vec<_> = expected.iter().filter(|key| !written.contains(**key)).collect();
    assert_eq!(missing, [&"file", &"scale"]);
    let extra: Vec<_> = written.iter().filter(|key| !expected.contains(key.as_str())).collect();
    assert!(extra.is_empty(), "{extra:?}");
}

fn collect(value: &toml::Value, keys: &mut BTreeSet<String>) {
    match value {
        toml::Value::Table(table) => {
            for (key, value) in table {
                keys.insert(key.clone());
                collect(value, keys);
            }
        }
        toml::Value::Array(items) => items.iter().for_each(|item| collect(item, keys)),
        _ => {}
    }
}

/// What is left out is what the documentation gives as default.
#[test]
fn defaults() {
    let text = "[time]\nend = 2\n[[body]]\nname = \"a\"\nmass = 1\ninertia = [1, 1, 1]\n";
    let scene = read_str(text, "", "").unwrap();
    let body = Body { name: "a".into(), mass: Some(1.0), inertia: Some(vec![1.0; 3]), ..Body::default() };
    assert_eq!(scene, Scene { time: Time { end: 2.0, ..Time::default() }, body: vec![body], ..Scene::default() });
    assert_eq!((scene.time.integrator, scene.solver.formulation), (Integrator::Auto, Formulation::Recursive));
}
