//! What documents quote exists and works: paths, commands, scene listings, citations, rooms.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use signorini::scene::read::read_str;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const SIGNORINI: &str = env!("CARGO_BIN_EXE_signorini");

fn root() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

/// Files under a folder, but for what builds, runs and virtual environments leave there.
fn files_under(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_ours = !matches!(name.as_str(), ".git" | "target" | "out" | "__pycache__" | "node_modules");
        if path.is_dir() && is_ours && !path.join("pyvenv.cfg").exists() {
            files_under(&path, found);
        } else if path.is_file() {
            found.push(path);
        }
    }
}

/// Files of the repository: what git tracks, or all there are where there is no git.
fn repository() -> Vec<PathBuf> {
    let root = root();
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(&root).output();
    if let Some(output) = listed.ok().filter(|output| output.status.success() && !output.stdout.is_empty()) {
        let text = String::from_utf8(output.stdout).unwrap();
        return text.split('\0').filter(|name| !name.is_empty()).map(|name| root.join(name)).collect();
    }
    let mut found = Vec::new();
    files_under(&root, &mut found);
    found
}

fn ends_with(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found == ending)
}

/// Every document, with its path from the root.
fn documents() -> Vec<(String, String)> {
    let mut found = Vec::new();
    files_under(&root(), &mut found);
    let documents: Vec<_> = found
        .iter()
        .filter(|path| ends_with(path, "md"))
        .map(|path| (name_of(path), fs::read_to_string(path).unwrap()))
        .collect();
    assert!(documents.len() > 10);
    documents
}

fn name_of(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

/// A document in pieces: running text, and listings with their language.
fn pieces(text: &str) -> (String, Vec<(String, String)>) {
    let (mut prose, mut listings) = (String::new(), Vec::new());
    let mut listing: Option<(String, String)> = None;
    for line in text.lines() {
        match (line.trim_start().strip_prefix("```"), &mut listing) {
            (Some(language), None) => listing = Some((language.trim().to_owned(), String::new())),
            (Some(_), Some(_)) => listings.extend(listing.take()),
            (None, Some((_, body))) => *body += &format!("{line}\n"),
            (None, None) => prose += &format!("{line}\n"),
        }
    }
    assert!(listing.is_none(), "a listing does not end");
    (prose, listings)
}

fn quoted(prose: &str) -> impl Iterator<Item = &str> {
    prose.split('`').skip(1).step_by(2)
}

/// Targets of links and pictures that are not on the net.
fn links(prose: &str) -> Vec<&str> {
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let here = targets.filter(|target| !target.contains("://") && !target.starts_with('#'));
    here.map(|target| target.split('#').next().unwrap_or_default()).collect()
}

/// Does a quoted word mean a file or folder of the repository? Words like NAME stand for something.
fn is_path(word: &str) -> bool {
    let is_word = word.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
    let is_concrete = is_word && !word.contains("NAME") && !word.contains("..") && !word.starts_with('.');
    let first = word.split('/').next().unwrap_or_default();
    let is_place = word.contains('/') && ["crates", "scenes", "cases", "book", "tests"].contains(&first);
    let is_source =
        [".rs", ".py", ".md", ".bib"].iter().any(|ending| word.len() > ending.len() && word.ends_with(ending));
    is_concrete && (is_place || is_source)
}

#[test]
fn quoted_paths_exist() {
    let root = root();
    let (mut n, mut missing) = (0, Vec::new());
    for (name, text) in documents() {
        let (prose, _) = pieces(&text);
        let folder = root.join(&name).parent().unwrap().to_path_buf();
        // Short names are looked for beside the document and in the rooms of the library.
        let places = [&folder, &root, &root.join("crates/signorini"), &root.join("crates/signorini/src")];
        let linked = links(&prose).into_iter().filter(|link| !folder.join(link).exists());
        let words = quoted(&prose).filter(|word| is_path(word));
        let lost = words.filter(|word| !places.iter().any(|place| place.join(word).exists()));
        missing.extend(linked.chain(lost).map(|word| format!("{name}: {word}")));
        n += quoted(&prose).filter(|word| is_path(word)).count() + links(&prose).len();
    }
    assert!(missing.is_empty(), "quoted, but not there:\n{}", missing.join("\n"));
    assert!(n > 100, "only {n} paths found");
}

/// Commands in listings are run, one after the other, in a folder of their own; those of cargo are looked at. A scene whose first line is
/// a comment with the name of a file, such as `# ball.toml`, is there under this name.
#[test]
fn quoted_commands_work() {
    let root = root();
    let mut n = 0;
    for (name, text) in documents() {
        let scratch = std::env::temp_dir().join(format!("signorini-documents-{}-{n}", std::process::id()));
        fs::create_dir_all(&scratch).unwrap();
        let (_, listings) = pieces(&text);
        for (_, scene) in listings.iter().filter(|listing| listing.0 == "toml") {
            let first = scene.lines().next().and_then(|line| line.strip_prefix("# "));
            if let Some(file) = first.filter(|file| file.ends_with(".toml") && !file.contains(['/', ' '])) {
                fs::write(scratch.join(file), scene).unwrap();
            }
        }
        for line in listings.iter().filter(|listing| listing.0 == "sh").flat_map(|listing| listing.1.lines()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                [] | ["#", ..] => continue,
                ["signorini", ref arguments @ ..] | ["cargo", "run", "--release", "--", ref arguments @ ..] => {
                    let output = Command::new(SIGNORINI).args(arguments).current_dir(&scratch).output().unwrap();
                    let error = String::from_utf8_lossy(&output.stderr);
                    assert!(output.status.success(), "{name}: {line}\n{error}");
                }
                ["cargo", ref arguments @ ..] => check_cargo(&root, &format!("{name}: {line}"), arguments),
                ["./check"] => assert!(root.join("check").is_file(), "{name}: {line}"),
                _ => panic!("{name}: the test does not know how to try `{line}`"),
            }
            n += 1;
        }
        fs::remove_dir_all(&scratch).unwrap();
    }
    assert!(n > 10, "only {n} commands found");
}

fn check_cargo(root: &Path, line: &str, arguments: &[&str]) {
    assert!(["run", "test", "install", "doc"].contains(&arguments[0]), "{line}");
    let crates = root.join("crates");
    let mut package = "signorini-cli";
    for pair in arguments.windows(2) {
        match pair {
            ["-p", name] => {
                let is_case = root.join("cases").join(name).join("Cargo.toml").is_file();
                assert!(is_case || crates.join(name).is_dir(), "{line}");
                package = name;
            }
            ["--path", path] => assert!(root.join(path).join("Cargo.toml").is_file(), "{line}"),
            ["--example", name] => {
                let at = crates.join(package).join("examples");
                let is_there = at.join(format!("{name}.rs")).is_file() || at.join(name).join("main.rs").is_file();
                assert!(is_there, "{line}");
            }
            ["--test", name] => assert!(crates.join(format!("{package}/tests/{name}.rs")).is_file(), "{line}"),
            _ => {}
        }
    }
}

#[test]
fn commands_in_running_text_parse() {
    for (name, text) in documents() {
        let (prose, _) = pieces(&text);
        for command in quoted(&prose).filter_map(|word| word.strip_prefix("signorini ")) {
            // The parser looks at everything before `--help`.
            let words = command.split_whitespace().chain(["--help"]);
            let output = Command::new(SIGNORINI).args(words).output().unwrap();
            assert!(output.status.success(), "{name}: signorini {command}");
        }
    }
}

/// The table of options in the user guide is that of the command.
#[test]
fn options_of_run_are_documented() {
    let page = fs::read_to_string(root().join("book/running.md")).unwrap();
    let output = Command::new(SIGNORINI).args(["run", "--help"]).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let option =
        |text: &str| text.split(|c: char| !(c.is_ascii_lowercase() || c == '-')).next().unwrap_or("").to_owned();
    let of = |text: &str, start: &str| -> BTreeSet<String> {
        text.lines().filter_map(|line| line.trim_start().strip_prefix(start)).map(option).collect()
    };
    let mut accepted = of(&help, "--");
    accepted.extend(of(&help, "-q, --"));
    // What every command has, and the opposite of `--no-plot`, which is the default.
    let found: BTreeSet<String> =
        accepted.into_iter().filter(|name| !["help", "version", "plot"].contains(&&name[..])).collect();
    assert_eq!(of(&page, "| `--"), found);
}

#[test]
fn scene_listings_are_read() {
    let mut n = 0;
    for (name, text) in
        documents().into_iter().filter(|(name, _)| !name.starts_with("scenes/") && !name.starts_with("cases/"))
    {
        for (_, listing) in pieces(&text).1.into_iter().filter(|listing| listing.0 == "toml") {
            if let Err(error) = read_str(&listing, &name, "") {
                panic!("{listing}\n{error}");
            }
            n += 1;
        }
    }
    assert!(n > 5);
}

/// Listings in Rust are doc tests of the library; a listing without a language would be taken for one.
#[test]
fn rust_listings_are_doc_tests() {
    let library = fs::read_to_string(root().join("crates/signorini/src/lib.rs")).unwrap();
    for (name, text) in documents() {
        let (_, listings) = pieces(&text);
        let is_included = library.contains(&format!("include_str!(\"../../../{name}\")"));
        let has_rust = listings.iter().any(|listing| listing.0.starts_with("rust"));
        assert_eq!(has_rust, is_included, "{name}");
        assert!(
            !is_included || listings.iter().all(|listing| !listing.0.is_empty()),
            "{name}: a listing without language"
        );
    }
}

/// Keys such as [name2000], alone or with a place.
fn citations(text: &str) -> Vec<&str> {
    let mut keys = Vec::new();
    for inside in text.split('[').skip(1).filter_map(|rest| rest.split(']').next()) {
        for part in inside.split(';') {
            let key = part.split(',').next().unwrap_or_default().trim();
            let letters = key.trim_end_matches(|c: char| c.is_ascii_digit());
            let is_name = letters.len() > 2 && letters.bytes().all(|b| b.is_ascii_lowercase());
            if is_name && key.len() == letters.len() + 4 {
                keys.push(key);
            }
        }
    }
    keys
}

#[test]
fn citations_are_in_the_bibliography() {
    assert_eq!(citations("as in [knuth1968, 1.2; dijkstra1959] and [i], a[row1], [12]"), ["knuth1968", "dijkstra1959"]);
    let bibliography = fs::read_to_string(root().join("REFERENCES.bib")).unwrap();
    let entries = bibliography.lines().filter(|line| line.starts_with('@'));
    let keys: Vec<&str> = entries.map(|line| line.split(['{', ',']).nth(1).unwrap()).collect();
    assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len(), "a key is there twice");
    let mut n = 0;
    let mut check = |place: &str, text: &str| {
        for key in citations(text) {
            assert!(keys.contains(&key), "{place}: [{key}] is not in REFERENCES.bib");
            n += 1;
        }
    };
    for (name, text) in documents() {
        check(&name, &text);
    }
    let this = Path::new(file!()).file_name().unwrap();
    for path in repository().iter().filter(|path| ends_with(path, "rs") && path.file_name() != Some(this)) {
        let text = fs::read_to_string(path).unwrap();
        let comments = text.lines().filter(|line| line.trim_start().starts_with("//"));
        check(&name_of(path), &comments.collect::<Vec<_>>().join("\n"));
    }
    assert!(n > 5, "only {n} citations found");
}

#[test]
fn every_test_file_is_explained() {
    let testing = fs::read_to_string(root().join("TESTING.md")).unwrap();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let tests = entry.unwrap().path().join("tests");
        for path in fs::read_dir(tests).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            let name = name_of(&path);
            let is_there = testing.lines().any(|line| line.starts_with(&format!("| `{name}` |")));
            assert!(is_there || !ends_with(&path, "rs"), "{name} has no line in TESTING.md");
        }
    }
}

/// Rooms of the library: folder or file, and the rooms that it may call.
fn rooms(architecture: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut rooms = BTreeMap::new();
    for line in architecture.lines().filter(|line| line.starts_with("| `crates/signorini/src/")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let place = cells[0].trim_matches('`').trim_start_matches("crates/signorini/src/");
        let room = place.trim_end_matches('/').trim_end_matches(".rs").to_owned();
        rooms.insert(room, cells[2].split(", ").map(str::to_owned).collect());
    }
    rooms
}

#[test]
fn every_source_file_has_a_room() {
    let architecture = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let places: Vec<&str> = quoted(&architecture).filter(|word| word.starts_with("crates/")).collect();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let source = entry.unwrap().path().join("src");
        let mut files = Vec::new();
        files_under(&source, &mut files);
        let top = format!("{}/", name_of(&source));
        for name in files.iter().map(|path| name_of(path)) {
            let is_home = |place: &&&str| name == **place || (place.ends_with('/') && name.starts_with(**place));
            let home = places.iter().filter(|place| ***place != top).find(is_home);
            assert!(home.is_some(), "{name} has no room in ARCHITECTURE.md");
        }
    }
}

#[test]
fn rooms_call_only_what_they_may() {
    let architecture = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rooms = rooms(&architecture);
    assert!(rooms.len() >= 8);
    let source = root().join("crates/signorini/src");
    let mut files = Vec::new();
    files_under(&source, &mut files);
    for path in files {
        let name = path.strip_prefix(&source).unwrap().to_string_lossy().replace('\\', "/");
        let room = name.split('/').next().unwrap().trim_end_matches(".rs").to_owned();
        let allowed = &rooms[&room];
        let text = fs::read_to_string(&path).unwrap();
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            for rest in line.split("crate::").skip(1) {
                let called = rest.split(|c: char| !(c.is_ascii_lowercase() || c == '_')).next().unwrap().to_owned();
                let is_open = called == room || called == "simd" || !rooms.contains_key(&called);
                let is_fine = is_open || allowed.contains(&called);
                assert!(is_fine || allowed.contains("everything"), "{name}: `{room}` may not call `{called}`");
            }
        }
    }
}

/// What steps and events need of a formulation stands in an interface: they name none.
#[test]
fn steps_name_no_formulation() {
    let step = root().join("crates/signorini/src/step");
    let mut files = Vec::new();
    files_under(&step, &mut files);
    assert!(files.len() > 20);
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for name in ["Formulation::", "recursive::", "dca::", "dense::"] {
            assert!(!text.contains(name), "{}: `{name}`", file.display());
        }
    }
    let architecture = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    assert_eq!(rooms(&architecture)["contact"], BTreeSet::from(["nothing".to_owned()]));
}

/// The workspace denies unsafe code; only the room for wide registers, and tests that count allocations, may lift that.
#[test]
fn unsafe_code_has_one_room() {
    let mut lifted = BTreeSet::new();
    for path in repository().iter().filter(|path| ends_with(path, "rs")) {
        let text = fs::read_to_string(path).unwrap();
        let attributes = text.lines().filter(|line| line.trim_start().starts_with("#"));
        if attributes.into_iter().any(|line| line.contains("unsafe_code")) {
            lifted.insert(name_of(path));
        }
    }
    let is_test = |name: &String| name.starts_with("crates/signorini/tests/");
    let (tests, rooms): (Vec<_>, Vec<_>) = lifted.into_iter().partition(is_test);
    assert_eq!(rooms, ["crates/signorini/src/simd/avx2.rs"]);
    for name in tests {
        let text = fs::read_to_string(root().join(&name)).unwrap();
        assert!(text.contains("impl GlobalAlloc for"), "{name} counts no allocations");
    }
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(manifest.contains("unsafe_code = \"deny\""));
}

/// Nothing in the repository knows on which machine it was written.
#[test]
fn no_machine_paths() {
    let places = ["work", "root", "home"].map(|name| format!("/{name}/"));
    for path in repository() {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        for (i, line) in text.lines().enumerate() {
            for place in &places {
                // Within an address on the net or a longer path it is no machine's.
                let is_start = |at: usize| !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-~".contains(c));
                let found = line.match_indices(place.as_str()).any(|(at, _)| is_start(at));
                assert!(!found, "{}:{}: {}", name_of(&path), i + 1, line.trim());
            }
        }
    }
}
