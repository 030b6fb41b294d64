//! What a campaign has found: one line per seed, so that it can be taken up again, and a table.

use crate::generate::{FAMILIES, scene};
use crate::judge::{Check, judge};
use crate::run::through_text;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What was found of one seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The seed.
    pub seed: u64,
    /// The family of its scene.
    pub family: String,
    /// Names of checks that fail, with what they say.
    pub failures: BTreeMap<String, String>,
}

/// Generates and judges the scene of a seed.
pub fn examine(seed: u64) -> Line {
    let scene = scene(seed);
    let family = scene.title.clone().unwrap_or_default();
    let failures = match through_text(&scene) {
        Ok(scene) => judge(&scene, &Check::of_seed(seed)),
        Err(what) => vec![crate::judge::Failure { check: Check::Completed, what }],
    };
    Line { seed, family, failures: failures.into_iter().map(|f| (f.check.name(), f.what)).collect() }
}

/// How many seeds of each family fail each check.
pub type Counts = BTreeMap<String, BTreeMap<String, usize>>;

/// Failures by check and family.
pub fn count(lines: &[Line]) -> Counts {
    let mut counts = Counts::new();
    for line in lines {
        for check in line.failures.keys() {
            *counts.entry(check.clone()).or_default().entry(line.family.clone()).or_default() += 1;
        }
    }
    counts
}

/// A table for the book: checks downwards, families across.
pub fn table(lines: &[Line]) -> String {
    let counts = count(lines);
    let mut text = format!("| fails | {} | all |\n", FAMILIES.join(" | "));
    text += &format!("|{}\n", "---|".repeat(FAMILIES.len() + 2));
    let mut row = |name: &str, of: &dyn Fn(&str) -> usize| {
        let numbers: Vec<usize> = FAMILIES.iter().map(|family| of(family)).collect();
        let cells: Vec<String> = numbers.iter().map(|n| if *n == 0 { "·".into() } else { n.to_string() }).collect();
        text += &format!("| {name} | {} | {} |\n", cells.join(" | "), numbers.iter().sum::<usize>());
    };
    for check in Check::all().iter().map(|check| check.name()) {
        if let Some(found) = counts.get(&check) {
            row(&check, &|family| found.get(family).copied().unwrap_or(0));
        }
    }
    let of = |family: &str| lines.iter().filter(|line| line.family == family).collect::<Vec<_>>();
    row("any", &|family| of(family).iter().filter(|line| !line.failures.is_empty()).count());
    row("scenes", &|family| of(family).len());
    text
}
