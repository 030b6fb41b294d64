//! The name that was probably meant.

/// Longer words are not compared: nobody misspells them by one letter, and the comparison is quadratic.
const LONGEST: usize = 64;

/// The candidate nearest to `word` by edit distance, if it is near enough to be a slip.
pub(crate) fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = lower(word)?;
    let mut best = None;
    for candidate in candidates {
        let Some(letters) = lower(candidate) else {
            continue;
        };
        let limit = 1 + word.len().max(letters.len()) / 4;
        if word.len().abs_diff(letters.len()) > limit {
            continue;
        }
        let distance = distance(&word, &letters);
        if distance <= limit && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The same, as a piece of advice.
pub(crate) fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    closest(word, candidates).map(|name| format!("did you mean `{name}`?"))
}

fn lower(word: &str) -> Option<Vec<char>> {
    (word.len() <= LONGEST).then(|| word.chars().flat_map(char::to_lowercase).collect())
}

/// Insertions, deletions, replacements and swaps of neighbours, one each.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut row = last.clone();
    for i in 1..=a.len() {
        row[0] = i;
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        std::mem::swap(&mut before, &mut last);
        std::mem::swap(&mut last, &mut row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_edits() {
        let distance = |a: &str, b: &str| distance(&lower(a).unwrap(), &lower(b).unwrap());
        assert_eq!(distance("mass", "mass"), 0);
        assert_eq!(distance("masss", "mass"), 1);
        assert_eq!(distance("mas", "mass"), 1);
        assert_eq!(distance("mast", "mass"), 1);
        assert_eq!(distance("amss", "mass"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
    }

    #[test]
    fn suggests_slips_only() {
        let keys = ["mass", "inertia", "position"];
        assert_eq!(closest("Mass", keys), Some("mass"));
        assert_eq!(closest("posiiton", keys), Some("position"));
        assert_eq!(closest("colour", keys), None);
        assert_eq!(closest(&"m".repeat(10_000), keys), None);
    }
}
