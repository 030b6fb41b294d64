//! Every sort of error, with its line and key.
//!
//! A case is a scene in which exactly one thing is wrong, on the line that ends in `# <-`.
// The exception for tests does not reach their helper functions.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use signorini::scene::read::{read, read_str};
use signorini::scene::{FindingKind, FindingKind::*, Problems, SceneError};
use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

mod scene_cases;
use scene_cases::{COUPLINGS, EVENTS, MEANING, STRUCTURE};

/// Short forms in cases.
const PARTS: [(&str, &str); 5] = [
    ("{TIME}", "[time]\nend = 1\n"),
    ("{ARM}", "[[body]]\nname = \"arm\"\nmass = 1\ninertia = [1, 1, 1]\n"),
    ("{JOINT}", "[[joint]]\nname = \"hinge\"\nparent = \"ground\"\nchild = \"arm\"\n"),
    ("{HINGE}", "[[joint]]\nname = \"hinge\"\nparent = \"ground\"\nchild = \"arm\"\nkind = \"revolute\"\n"),
    ("{BALL}", "[[body]]\nname = \"ball\"\n[[body.shape]]\nkind = \"sphere\"\nradius = 1\n"),
];

fn expand(case: &str) -> String {
    PARTS.iter().fold(case.to_owned(), |text, (short, long)| text.replace(short, long))
}

fn problems(text: &str) -> Problems {
    match read_str(text, "case.toml", folder()) {
        Err(SceneError::Invalid(problems)) => problems,
        other => panic!("{text}\n{other:?}"),
    }
}

/// A folder with geometry files to refer to.
fn folder() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("scene_read");
    fs::create_dir_all(&folder).unwrap();
    let points = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
    for (name, faces) in [
        ("good.obj", "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"),
        ("open.obj", "f 1 3 2\nf 1 2 4\nf 1 4 3\n"),
        ("inside_out.obj", "f 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n"),
        ("inconsistent.obj", "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 4 3\n"),
        ("crowded.obj", "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\nf 1 2 3\nf 1 3 2\n"),
        ("flat.obj", "f 1 2 3\nf 1 3 2\n"),
    ] {
        // Tests run side by side: a file appears whole or not at all.
        let unfinished = folder.join(format!("{name}.{:?}", std::thread::current().id()));
        fs::write(&unfinished, format!("{points}{faces}")).unwrap();
        fs::rename(unfinished, folder.join(name)).unwrap();
    }
    folder
}

fn check(case: &(FindingKind, &str, &str, &str)) {
    let (kind, path, said, text) = case;
    let text = expand(text);
    let Problems { problems, is_cut, .. } = problems(&text);
    let all: Vec<String> = problems.iter().map(|p| format!("{}: {}", p.place.line, p.finding)).collect();
    assert_eq!(problems.len(), 1, "{text}\n{all:#?}");
    assert!(!is_cut);
    let problem = &problems[0];
    let line = text.lines().position(|line| line.ends_with("# <-")).expect("a case marks its line") + 1;
    assert_eq!(
        (problem.finding.kind, problem.finding.path.as_str(), problem.place.line),
        (*kind, *path, line),
        "{text}\n{all:#?}"
    );
    assert!(problem.finding.to_string().contains(said), "{text}\n{}", problem.finding);
}

#[test]
fn structure() {
    STRUCTURE.iter().for_each(check);
}

#[test]
fn meaning() {
    MEANING.iter().for_each(check);
}

#[test]
fn events() {
    EVENTS.iter().for_each(check);
}

#[test]
fn couplings() {
    COUPLINGS.iter().for_each(check);
}

/// Two events that wait for each other: both are told.
#[test]
fn events_that_wait_for_each_other() {
    let event = |name: &str, after: &str| {
        format!("[[event]]\nname = \"{name}\"\nkind = \"unlock\"\njoint = \"hinge\"\nafter = \"{after}\"\n")
    };
    let text = expand(&format!("{{TIME}}{{ARM}}{{HINGE}}{}{}{}", event("a", "b"), event("b", "a"), event("c", "a")));
    let found: Vec<(FindingKind, String)> =
        problems(&text).problems.into_iter().map(|p| (p.finding.kind, p.finding.path)).collect();
    assert_eq!(found, [(Contradiction, "event[0].after".into()), (Contradiction, "event[1].after".into())]);
}

#[test]
fn every_sort_of_finding_has_a_case() {
    // Encoding and size have tests of their own; mechanisms are put together elsewhere.
    let elsewhere = [Encoding, TooLarge, Mechanism];
    let covered: HashSet<FindingKind> =
        STRUCTURE.iter().chain(&MEANING).chain(&EVENTS).map(|case| case.0).chain(elsewhere).collect();
    let missing: Vec<_> = FindingKind::ALL.into_iter().filter(|kind| !covered.contains(kind)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_sort_of_finding_has_its_own_code() {
    let codes: HashSet<_> = FindingKind::ALL.into_iter().map(FindingKind::code).collect();
    assert_eq!(codes.len(), FindingKind::ALL.len());
}

#[test]
fn several_problems_are_reported_in_the_order_of_the_file() {
    let text = expand(
        "gravty = [0, 0, 0]\n{TIME}{ARM}colour = 3\n[[joint]]\nname = 5\nkind = \"revolute\"\nparent = \"a\"\nchild = \"b\"\n",
    );
    let found: Vec<(usize, String)> =
        problems(&text).problems.into_iter().map(|p| (p.place.line, p.finding.path)).collect();
    assert_eq!(found, [(1, "gravty".into()), (8, "body[0].colour".into()), (10, "joint[0].name".into())]);
}

#[test]
fn the_message_names_file_line_column_key_found_and_allowed() {
    let text = expand("{TIME}[[body]]\nname = \"arm\"\ninertia = [1, 1, 1]\nmass = \"heavy\"\n");
    assert_eq!(
        problems(&text).to_string(),
        "case.toml:6:8: body[0].mass (body `arm`): the value has the wrong type; found string \"heavy\"; allowed: a finite number"
    );
}

#[test]
fn the_span_is_what_is_wrong() {
    let text = expand("{TIME}# größer als nötig\n[[body]]\nname = 'é'\nmäss = 1\n");
    let Problems { problems, source, .. } = problems(&text.replace("mäss", "\"mäss\""));
    let problem = &problems[0];
    assert_eq!(&source.text[problem.place.span.clone()], "\"mäss\"");
    assert_eq!((problem.place.line, problem.place.column), (6, 1));
    assert_eq!(problem.finding.help.as_deref(), Some("did you mean `mass`?"));
}

#[test]
fn a_problem_of_a_missing_key_is_placed_at_its_table() {
    let text = expand("{TIME}{ARM}{JOINT}kind = \"screw\"\n");
    let problem = &problems(&text).problems[0];
    assert_eq!(&text[problem.place.span.clone()], "[[joint]]");
}

#[test]
fn findings_from_elsewhere_can_be_placed() {
    let folder = folder();
    let path = folder.join("placed.toml");
    let text = expand("{TIME}{ARM}{JOINT}kind = \"revolute\"\naxis = [0, 1, 0]\n");
    fs::write(&path, &text).unwrap();
    let (_, source) = signorini::scene::read::read_with_source(&path).unwrap();
    for (key, expected) in [
        ("joint[0].axis", "[0, 1, 0]"),
        ("joint[0].axis[1]", "1"),
        ("joint[0].anchor", "[[joint]]"),
        ("body[0]", "[[body]]"),
        ("time.end", "1"),
        ("nothing.at[3].all", ""),
        ("", ""),
    ] {
        assert_eq!(&text[source.locate(key).span], expected, "{key}");
    }
    let finding = signorini::scene::Finding::new(Mechanism, "joint[0].axis", "the loop does not close");
    let message = source.error(vec![finding]).to_string();
    assert!(message.ends_with("placed.toml:12:8: joint[0].axis: the loop does not close"), "{message}");
}

#[test]
fn a_long_list_of_problems_is_cut() {
    let text = (0..1000).map(|i| format!("key{i} = 1\n")).collect::<String>();
    let problems = problems(&text);
    assert!(problems.is_cut);
    assert_eq!(problems.problems.len(), signorini::scene::MAX_FINDINGS);
}

#[test]
fn too_many_patterns_are_refused() {
    let patterns = vec!["\"*\""; 1001].join(", ");
    let text = expand(&format!("{{TIME}}[output]\nbodies = [{patterns}]\n{{ARM}}"));
    let problem = &problems(&text).problems[0];
    assert_eq!((problem.finding.kind, problem.finding.path.as_str()), (TooLarge, "output.bodies[1000]"));
}

#[test]
fn files_that_are_not_text_or_not_there() {
    let folder = folder();
    let path = folder.join("latin1.toml");
    fs::write(&path, b"[time]\nend = 1\ntitle = \"M\xfcller\"\n").unwrap();
    let Err(SceneError::Invalid(Problems { problems, .. })) = read(&path) else { panic!() };
    assert_eq!((problems[0].finding.kind, problems[0].place.line, problems[0].place.column), (Encoding, 3, 11));
    assert!(matches!(read(folder.join("absent.toml")), Err(SceneError::Io { .. })));
    assert!(matches!(read(&folder), Err(SceneError::Io { .. })));
}

#[test]
fn integers_are_numbers_and_every_number_form_is_read() {
    let text = expand("gravity = [0, -1_0, 0x10]\n{TIME}{ARM}");
    assert_eq!(read_str(&text, "", "").unwrap().gravity, [0.0, -10.0, 16.0]);
}

#[test]
fn files_are_found_from_the_scene_file() {
    let folder = folder();
    let path = folder.join("with_mesh.toml");
    fs::write(
        &path,
        expand(
            "{TIME}[[body]]\nname = \"a\"\nmass = 3\nshape = [{ kind = \"mesh\", file = \"good.obj\", scale = 2 }]\n",
        ),
    )
    .unwrap();
    let scene = read(&path).unwrap();
    let mass = scene.body[0].mass_properties(&[]).unwrap();
    // Centroid of a corner tetrahedron with edges 2.
    assert!((mass.com.add_scalar(-0.5)).amax() < 1e-15);
    assert_eq!(mass.mass, 3.0);
}
