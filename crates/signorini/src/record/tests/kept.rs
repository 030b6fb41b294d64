//! A kept scene needs nothing but its folder.

use super::*;
use crate::scene::read::{read_str, read_with_source};

const TETRAHEDRON: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

const SCENE_TEXT: &str = r#"# a comment that stays
[time]
end = 1.0

[[body]]
name = "one"
shape = [{ kind = "mesh", file = "../shapes/a b.obj", density = 1.0 }]

[[body]]
name = "two"
[[body.shape]]
kind = "convex-hull"
file = '../shapes/a b.obj' # the same again
density = 2.0
"#;

#[test]
fn geometry_files_come_along() {
    let scratch = Scratch::new();
    let (shapes, scenes) = (scratch.folder("shapes"), scratch.folder("scenes"));
    fs::write(shapes.join("a b.obj"), TETRAHEDRON).unwrap();
    fs::write(scenes.join("scene.toml"), SCENE_TEXT).unwrap();
    let (scene, source) = read_with_source(scenes.join("scene.toml")).unwrap();
    let kept = KeptScene::gather(&scene, &source, &scenes).unwrap();
    let run = scratch.folder("run");
    kept.write(&run).unwrap();
    fs::remove_dir_all(&shapes).unwrap();
    fs::remove_dir_all(&scenes).unwrap();

    let (again, source) = read_with_source(run.join("scene.toml")).unwrap();
    assert!(source.text.starts_with("# a comment that stays") && source.text.contains("# the same again"));
    assert_eq!(again.body[0].mass_properties(&[]).unwrap(), scene.body[0].mass_properties(&[]).unwrap());
    let same = KeptScene::gather(&again, &source, &run).unwrap();
    assert_eq!((&same.text, same.file_hashes()), (&kept.text, kept.file_hashes()));

    // Somebody edits the geometry: the kept scene is no longer what was run.
    let name = kept.file_hashes().into_keys().next().unwrap();
    fs::write(run.join(name), TETRAHEDRON.replace("v 1 0 0", "v 2 0 0")).unwrap();
    let edited = KeptScene::gather(&again, &source, &run).unwrap();
    assert_ne!(edited.file_hashes(), kept.file_hashes());
}

#[test]
fn a_scene_of_ones_own_is_not_overwritten() {
    let scratch = Scratch::new();
    let text = "[time]\nend = 1.0\n";
    let scene = read_str(text, "scene.toml", &scratch.0).unwrap();
    let source = crate::scene::SceneSource { file: "scene.toml".into(), text: text.into() };
    let kept = KeptScene::gather(&scene, &source, &scratch.0).unwrap();
    kept.check_place(&scratch.0).unwrap();
    fs::write(scratch.0.join("scene.toml"), text).unwrap();
    kept.check_place(&scratch.0).unwrap();
    fs::write(scratch.0.join("scene.toml"), "title = \"mine\"\n").unwrap();
    assert!(kept.check_place(&scratch.0).unwrap_err().is_input());
}
