//! Names with `*` (any run of characters, also none) and `?` (one character).

/// Does the whole of `name` fit `pattern`?
///
/// Greedy with one remembered star: when a later character does not fit, the last star takes one character more.
/// Time is at most the product of the two lengths, whatever the pattern.
pub fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if p < pattern.len() && pattern[p] == '*' {
            star = Some((p, n));
            p += 1;
        } else if p < pattern.len() && (pattern[p] == '?' || pattern[p] == name[n]) {
            p += 1;
            n += 1;
        } else if let Some((star_p, star_n)) = star {
            star = Some((star_p, star_n + 1));
            p = star_p + 1;
            n = star_n + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

/// The name nearest to `wanted` by the number of characters to change, where that is less than half of it.
pub fn find_similar<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = wanted.chars().count().div_ceil(2);
    // Long lists are not worth the quadratic comparison of each name.
    names
        .take(10_000)
        .map(|name| (edit_distance(wanted, name, limit), name))
        .filter(|&(distance, _)| distance < limit)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

/// Characters to insert, delete or replace; `limit` where it is certainly no less than that.
fn edit_distance(a: &str, b: &str, limit: usize) -> usize {
    let b: Vec<char> = b.chars().collect();
    if a.chars().count().abs_diff(b.len()) >= limit {
        return limit;
    }
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut current = vec![i + 1];
        for (j, &cb) in b.iter().enumerate() {
            let replaced = previous[j] + usize::from(ca != cb);
            current.push(replaced.min(previous[j + 1] + 1).min(current[j] + 1));
        }
        previous = current;
    }
    previous[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, name, expected) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*", "anything at all", true),
            ("link*", "link12", true),
            ("link*", "alink", false),
            ("*arm", "left-arm", true),
            ("l?nk", "link", true),
            ("l?nk", "lnk", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-b-b", false),
            ("??", "é√", true),
            ("link1", "link12", false),
            ("[a]", "a", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} against {name}");
        }
    }

    #[test]
    fn many_stars_do_not_explode() {
        assert!(!matches(&"*a".repeat(60), &"b".repeat(5_000)));
    }

    #[test]
    fn similar_names() {
        let names = ["crank", "rod", "slider"];
        assert_eq!(find_similar("crnak", names.into_iter()), Some("crank"));
        assert_eq!(find_similar("piston", names.into_iter()), None);
    }

    /// The definition, by recursion: the yardstick for the loop above.
    fn matches_by_definition(pattern: &[char], name: &[char]) -> bool {
        match (pattern.split_first(), name.split_first()) {
            (None, None) => true,
            (Some((&'*', rest)), _) => (0..=name.len()).any(|k| matches_by_definition(rest, &name[k..])),
            (Some((&p, pattern)), Some((&n, name))) => (p == '?' || p == n) && matches_by_definition(pattern, name),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(pattern in "[ab*?]{0,8}", name in "[ab]{0,8}") {
            let p: Vec<char> = pattern.chars().collect();
            let n: Vec<char> = name.chars().collect();
            prop_assert_eq!(matches(&pattern, &name), matches_by_definition(&p, &n));
        }
    }
}
