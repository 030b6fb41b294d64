//! `book/scene-format.md` says what the reader does: the same keys, and listings that are read.
// The exception for tests does not reach their helper functions.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use signorini::scene::MAX_FINDINGS;
use signorini::scene::mesh::{MAX_MESH_BYTES, MAX_TRIANGLES};
use signorini::scene::read::{MAX_SCENE_BYTES, read_str};
use signorini::scene::schema::accepted_keys;
use std::collections::BTreeSet;

const PAGE: &str = include_str!("../../../book/scene-format.md");

/// The words between backquotes.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Table, kind and key.
type Id = (String, Option<String>, String);

/// Table, kind and key of every row of a table with the heading `key`; and its type and default.
fn documented() -> Vec<(Id, String, String)> {
    let mut rows = Vec::new();
    let mut section: Option<(String, Option<String>)> = None;
    let mut is_key_table = false;
    for line in PAGE.lines() {
        if line.starts_with("##") {
            let words = quoted(line);
            section = words.first().map(|table| (table.to_string(), words.get(1).map(|kind| kind.to_string())));
        }
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        match cells[..] {
            ["key", "type", "default", "meaning"] => is_key_table = true,
            [key, kind, default, meaning] if is_key_table && key.starts_with('`') => {
                let (table, of_kind) = section.clone().expect("a table of keys stands under a heading that names it");
                assert!(!meaning.is_empty(), "{line}");
                rows.push(((table, of_kind, key.trim_matches('`').to_owned()), kind.to_owned(), default.to_owned()));
            }
            [_, _, _, _] => {}
            _ => is_key_table = false,
        }
    }
    rows
}

#[test]
fn the_keys_are_those_of_the_reader() {
    let rows = documented();
    let found: BTreeSet<_> = rows.iter().map(|row| row.0.clone()).collect();
    assert_eq!(found.len(), rows.len(), "a key is documented twice");
    let expected: BTreeSet<_> = accepted_keys()
        .into_iter()
        .map(|k| (k.table.to_owned(), k.kind.map(str::to_owned), k.key.to_owned()))
        .collect();
    let undocumented: Vec<_> = expected.difference(&found).collect();
    let invented: Vec<_> = found.difference(&expected).collect();
    assert!(undocumented.is_empty() && invented.is_empty(), "undocumented: {undocumented:?}; invented: {invented:?}");
}

#[test]
fn types_and_what_is_required_are_those_of_the_reader() {
    let rows = documented();
    for key in accepted_keys() {
        let id = (key.table.to_owned(), key.kind.map(str::to_owned), key.key.to_owned());
        let (_, kind, default) = rows.iter().find(|row| row.0 == id).expect("documented");
        assert_eq!(default == "required", key.required, "{id:?}");
        let expected: &[&str] = match key.value.as_str() {
            "a string" => &["text"],
            "a finite number" => &["number"],
            "an integer from 0 on" => &["count"],
            "a list of 3 numbers" => &["vector"],
            "a list of 4 numbers" => &["quaternion"],
            "a list of 2 numbers" => &["list of 2 numbers"],
            "true or false" => &["flag"],
            "a list of 3 or 6 numbers" => &["list of 3 or 6 numbers"],
            "a list of integers from 0 on" => &["list of counts"],
            "a list of numbers" => &["list of numbers"],
            "a number or a list of numbers" => &["number or list"],
            "a number or a list of numbers, `inf` or `-inf` for no limit" => &["number or list"],
            "a list of points, each a list of 3 numbers" => &["list of vectors"],
            "a list of strings" => &["list of texts"],
            "a number or a table (signal)" => &["signal"],
            "a string or a table (pose)" => &["text or pose"],
            "a number, a list of 2 numbers or a table (friction)" => &["friction"],
            "a list of directions, each a list of 2 numbers" => &["list of lists of 2 numbers"],
            "a table (`[attachment]`)" => &["attachment"],
            "a list of tables (`[[signal]]`)" => &["list of signals"],
            value if value.starts_with("a table") => &["table"],
            value if value.starts_with("a list of tables") => &["list of tables"],
            value if value.starts_with('`') => &["word"],
            value => panic!("no word for {value}"),
        };
        assert!(expected.contains(&kind.as_str()), "{id:?}: {kind}, {}", key.value);
    }
}

/// Every word that may stand as a choice is in the row of its key, or in the table of joint kinds.
#[test]
fn choices_are_listed() {
    for key in accepted_keys().into_iter().filter(|key| key.value.starts_with('`')) {
        for word in quoted(&key.value) {
            let is_listed = if (key.table, key.key) == ("joint", "kind") {
                PAGE.lines().any(|line| line.starts_with(&format!("| {word} |")))
            } else {
                PAGE.lines()
                    .any(|line| line.starts_with(&format!("| `{}` | word |", key.key)) && quoted(line).contains(&word))
            };
            assert!(is_listed, "{key:?}: {word}");
        }
    }
}

#[test]
fn every_listing_is_read() {
    let listings: Vec<&str> =
        PAGE.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect();
    assert!(listings.len() >= 5);
    for listing in listings {
        if let Err(error) = read_str(listing, "listing", "") {
            panic!("{listing}\n{error}");
        }
    }
}

#[test]
fn limits_are_those_of_the_reader() {
    let limits = [
        format!("scene file may have up to {} MiB", MAX_SCENE_BYTES >> 20),
        format!("geometry file {} MiB", MAX_MESH_BYTES >> 20),
        format!("{} million triangles", MAX_TRIANGLES / 1_000_000),
        format!("At most {MAX_FINDINGS} problems"),
    ];
    for limit in limits {
        assert!(PAGE.contains(&limit), "{limit}");
    }
    let nested = |n: usize| format!("a = {}{}", "[".repeat(n), "]".repeat(n));
    let is_too_deep = |n: usize| read_str(&nested(n), "", "").unwrap_err().to_string().contains("recurse");
    assert!(!is_too_deep(79) && is_too_deep(81));
}
