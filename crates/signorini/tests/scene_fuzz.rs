//! Whatever the bytes: an answer or an error, soon and in bounded memory, never a panic.
//!
//! Inputs are a few kilobytes here, so the bounds are those of the work done per byte; inputs that are large in one
//! direction have tests of their own below.
// The exception for tests does not reach their helper functions.
#![allow(clippy::unwrap_used, clippy::expect_used)]
// To count allocations.
#![allow(unsafe_code)]

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use signorini::scene::mesh::read_mesh;
use signorini::scene::read::{read, read_str};
use signorini::scene::{Scene, SceneError};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fs;
use std::path::PathBuf;

mod scene_strategies;
use scene_strategies::scene;

/// Counts what each thread has allocated at most at one time.
struct Counting;

thread_local! {
    static NOW: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    // Threads that are being torn down have nothing left to count with.
    let _ = NOW.try_with(|now| {
        now.set(now.get() + bytes);
        let _ = MOST.try_with(|most| most.set(most.get().max(now.get())));
    });
}

// SAFETY: every call is passed on unchanged.
// SAFETY: everything is handed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs something and checks that it allocates no more than some times the size of its input, plus what the first
/// problem and its message need.
fn bounded<T>(input_bytes: usize, work: impl FnOnce() -> T) -> T {
    let before = NOW.get();
    MOST.set(before);
    let result = work();
    let used = (MOST.get() - before) as usize;
    // Tokens, events and values of a TOML document take some hundred bytes per byte of text when every byte is one.
    let allowed = 1_000_000 + 300 * input_bytes;
    assert!(used <= allowed, "{used} bytes for an input of {input_bytes}");
    result
}

fn feed(text: &str) -> Result<Scene, SceneError> {
    let result = bounded(text.len(), || read_str(text, "fuzz.toml", "/nowhere"));
    if let Err(error) = &result {
        let SceneError::Invalid(found) = error else { panic!("{error}") };
        assert!(!found.problems.is_empty());
        for problem in &found.problems {
            // Slicing panics on a span that is no span of the text.
            let _ = &text[problem.place.span.clone()];
            assert!(!problem.finding.message.is_empty());
        }
        assert!(!error.to_string().is_empty());
    }
    result
}

fn valid_text() -> impl Strategy<Value = String> {
    scene().prop_map(|scene| toml::to_string(&scene).unwrap())
}

/// Words that mean something somewhere.
const WORDS: [&str; 28] = [
    "nan",
    "inf",
    "-1",
    "1e308",
    "1e-320",
    "99999999999999999999",
    "0x",
    "true",
    "\"\"",
    "\"ground\"",
    "[]",
    "{}",
    "[[body]]",
    "[body]",
    "kind",
    "mass = 0",
    "inertia = [0, 0, 0]",
    "\"sphere\"",
    "\"mesh\"",
    "file = \"/dev/zero\"",
    "\"free\"",
    "=",
    "[",
    "}",
    "\n",
    "\"\"\"",
    "1979-05-27",
    ".",
];

#[derive(Debug, Clone)]
enum Edit {
    Delete(f64, usize),
    Insert(f64, &'static str),
    Copy(f64, f64, usize),
    Byte(f64, u8),
}

fn edit() -> impl Strategy<Value = Edit> {
    let place = || 0.0..1.0;
    prop_oneof![
        (place(), 1..40usize).prop_map(|(at, n)| Edit::Delete(at, n)),
        (place(), prop::sample::select(WORDS.to_vec())).prop_map(|(at, word)| Edit::Insert(at, word)),
        (place(), place(), 1..200usize).prop_map(|(from, to, n)| Edit::Copy(from, to, n)),
        (place(), any::<u8>()).prop_map(|(at, byte)| Edit::Byte(at, byte)),
    ]
}

fn apply(text: &str, edits: &[Edit]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for edit in edits {
        let length = bytes.len();
        let index = |place: f64| ((place * length as f64) as usize).min(length);
        match *edit {
            Edit::Delete(at, n) => drop(bytes.drain(index(at)..(index(at) + n).min(length))),
            Edit::Insert(at, word) => drop(bytes.splice(index(at)..index(at), word.bytes())),
            Edit::Copy(from, to, n) => {
                let piece = bytes[index(from)..(index(from) + n).min(length)].to_vec();
                bytes.splice(index(to)..index(to), piece);
            }
            Edit::Byte(at, byte) => {
                if let Some(place) = bytes.get_mut(index(at)) {
                    *place = byte;
                }
            }
        }
    }
    bytes
}

/// A value that may be wrong, at the place of any value in a valid scene.
fn replace_a_value(text: &str, place: f64, word: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let target = (place * lines.len() as f64) as usize;
    let edited = lines.iter().enumerate().map(|(i, line)| match line.split_once(" = ") {
        Some((key, _)) if i == target => format!("{key} = {word}\n"),
        _ => format!("{line}\n"),
    });
    edited.collect()
}

fn folder() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("scene_fuzz");
    fs::create_dir_all(&folder).unwrap();
    folder
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn mutated_scenes(text in valid_text(), edits in prop::collection::vec(edit(), 1..8)) {
        let _ = feed(&String::from_utf8_lossy(&apply(&text, &edits)));
    }

    #[test]
    fn wrong_values(text in valid_text(), place in 0.0..1.0, word in prop::sample::select(WORDS.to_vec())) {
        let _ = feed(&replace_a_value(&text, place, word));
    }

    #[test]
    fn words_in_any_order(words in prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..60)) {
        let _ = feed(&words.join(" "));
        let _ = feed(&words.join("\n"));
    }

    #[test]
    fn any_text(text in "\\PC{0,300}") {
        let _ = feed(&text);
    }

    #[test]
    fn any_bytes_in_files(bytes in prop::collection::vec(any::<u8>(), 0..400), ending in prop::sample::select(vec!["toml", "stl", "obj"])) {
        let path = folder().join(format!("bytes.{ending}"));
        fs::write(&path, &bytes).unwrap();
        bounded(bytes.len(), || drop((read(&path).err(), read_mesh(&path).err())));
    }

    #[test]
    fn mutated_meshes(edits in prop::collection::vec(edit(), 1..8)) {
        let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
        let path = folder().join("mutated.obj");
        fs::write(&path, apply(obj, &edits)).unwrap();
        let _ = bounded(1000, || read_mesh(&path));
    }

    /// Half a binary STL file, or one that announces more than it holds.
    #[test]
    fn binary_stl_that_lies(count in any::<u32>(), length in 0..400usize, fill in any::<u8>()) {
        let mut bytes = vec![0; 80];
        bytes.extend(count.to_le_bytes());
        bytes.extend(vec![fill; length]);
        let path = folder().join("lies.stl");
        fs::write(&path, &bytes).unwrap();
        let _ = bounded(bytes.len(), || read_mesh(&path));
    }
}

/// The fuzzer reaches the deeper passes: enough of its scenes get past syntax, and past structure.
#[test]
fn mutations_reach_every_pass() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut codes = std::collections::BTreeMap::new();
    let inputs = (valid_text(), 0.0..1.0, prop::sample::select(WORDS.to_vec()));
    for _ in 0..300 {
        let (text, place, word) = inputs.new_tree(&mut runner).unwrap().current();
        let code = match feed(&replace_a_value(&text, place, word)) {
            Err(SceneError::Invalid(found)) => found.problems[0].finding.kind.code(),
            _ => "valid",
        };
        *codes.entry(code).or_insert(0) += 1;
    }
    for code in ["valid", "scene::syntax", "scene::wrong-type", "scene::not-finite", "scene::out-of-range"] {
        assert!(codes.contains_key(code), "{codes:?}");
    }
}

/// Inputs that are large in one direction. Each takes a fraction of a second; a quadratic reader would take minutes.
#[test]
fn large_inputs() {
    let n = 100_000;
    let dotted = vec!["a"; n].join(".");
    let bodies: String =
        (0..20_000).map(|i| format!("[[body]]\nname = \"b{i}\"\nmass = 1\ninertia = [1, 1, 1]\n")).collect();
    let misnamed: String = (0..20_000)
        .map(|i| format!("[[joint]]\nname = \"j{i}\"\nkind = \"fixed\"\nparent = \"ground\"\nchild = \"x{i}\"\n"))
        .collect();
    for text in [
        format!("{dotted} = 1"),
        format!("[{dotted}]"),
        format!("a = {}", "[".repeat(n)),
        format!("a = {}{}", "[".repeat(n), "]".repeat(n)),
        format!("a = {}", "{a = ".repeat(n)),
        "= \n".repeat(n),
        "a = 1\n".repeat(n),
        "[[body]]\n".repeat(n),
        format!("body = [{}]", "1, ".repeat(n)),
        format!("gravity = [{}]", "1, ".repeat(n)),
        format!("{} = 1", "k".repeat(n)),
        format!("[time]\nend = 1\n{bodies}{misnamed}"),
    ] {
        assert!(feed(&text).is_err());
    }
    assert_eq!(feed(&format!("[time]\nend = 1\n{bodies}")).unwrap().body.len(), 20_000);
}

/// Files that never end, or never begin.
#[cfg(unix)]
#[test]
fn special_files_are_refused() {
    assert!(matches!(read("/dev/zero"), Err(SceneError::Io { .. })));
    let link = folder().join("endless.stl");
    let _ = std::os::unix::fs::symlink("/dev/zero", &link);
    assert!(read_mesh(&link).unwrap_err().contains("not a regular file"));
}
