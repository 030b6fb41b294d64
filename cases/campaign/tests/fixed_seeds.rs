//! Random scenes of fixed seeds: no more of them fail than are known. The list of those that are known may only become shorter.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use campaign::ledger::{Counts, Line, count, examine};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Deserialize, Serialize)]
struct Known {
    /// Seeds from 0 up to this one are judged.
    seeds: u64,
    /// Checks that fail: how many scenes of which family.
    fails: Counts,
}

fn judged(seeds: u64) -> Vec<Line> {
    let (next, lines) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get().min(8)) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds {
                        break;
                    }
                    let line = examine(seed);
                    lines.lock().unwrap().push(line);
                }
            });
        }
    });
    let mut lines = lines.into_inner().unwrap();
    lines.sort_by_key(|line| line.seed);
    lines
}

/// With `SIGNORINI_KNOWN=shrink` the file is written anew where nothing in it rises.
#[test]
fn failures_are_known_and_become_fewer() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("known.toml");
    let known: Known = toml::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let lines = judged(known.seeds);
    let found = count(&lines);
    let get = |counts: &Counts, check: &str, family: &str| {
        counts.get(check).and_then(|of| of.get(family)).copied().unwrap_or(0)
    };
    let (mut more, mut fewer) = (Vec::new(), Vec::new());
    for (check, families) in found.iter().chain(&known.fails) {
        for family in families.keys() {
            let (now, before) = (get(&found, check, family), get(&known.fails, check, family));
            let of_these = |line: &&Line| line.family == *family && line.failures.contains_key(check);
            let scenes =
                lines.iter().filter(of_these).map(|line| format!("\n  seed {}: {}", line.seed, line.failures[check]));
            if now > before {
                more.push(format!(
                    "{check}, {family}: {now} scenes fail, {before} are known{}",
                    scenes.collect::<String>()
                ));
            } else if now < before {
                fewer.push(format!("{check}, {family}: {now} scenes fail, {before} are listed"));
            }
        }
    }
    assert!(more.is_empty(), "{}\n`campaign --seed N --check NAME` cuts a scene down", more.join("\n"));
    if std::env::var("SIGNORINI_KNOWN").is_ok_and(|word| word == "shrink") {
        let text = toml::to_string(&Known { seeds: known.seeds, fails: found }).unwrap();
        fs::write(&path, format!("{HEAD}{text}")).unwrap();
    } else {
        println!("fewer than known.toml lists (SIGNORINI_KNOWN=shrink takes them out):\n{}", fewer.join("\n"));
    }
}

const HEAD: &str = "\
# Random scenes that are known to fail: check, family, how many of the seeds. These numbers may only become smaller.
";
