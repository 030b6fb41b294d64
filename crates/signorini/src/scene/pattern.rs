//! Names with wildcards: `*` stands for any run of characters, `?` for one.

/// Whether `name` matches `pattern`, in time proportional to the product of their lengths at worst.
pub fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    // Where the last star stood and how much of the name it has swallowed; a later star never needs an earlier one.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p + 1, n));
                p += 1;
            }
            Some(&c) if c == '?' || c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((after, swallowed)) => {
                    star = Some((after, swallowed + 1));
                    p = after;
                    n = swallowed + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

/// Whether a pattern is a plain name.
pub fn is_plain(pattern: &str) -> bool {
    !pattern.contains(['*', '?'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, name) in
            [("*", ""), ("*", "arm"), ("a*m", "arm"), ("a*m", "am"), ("?rm", "arm"), ("*a*a*", "banana")]
        {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("", "a"), ("?", ""), ("arm", "arms"), ("a*m", "arms"), ("?", "ab"), ("*x", "banana")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    fn by_definition(pattern: &[char], name: &[char]) -> bool {
        match pattern.split_first() {
            None => name.is_empty(),
            Some(('*', rest)) => (0..=name.len()).any(|k| by_definition(rest, &name[k..])),
            Some(('?', rest)) => !name.is_empty() && by_definition(rest, &name[1..]),
            Some((c, rest)) => name.first() == Some(c) && by_definition(rest, &name[1..]),
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(pattern in "[ab*?]{0,7}", name in "[ab]{0,8}") {
            let letters = |s: &str| s.chars().collect::<Vec<_>>();
            prop_assert_eq!(matches(&pattern, &name), by_definition(&letters(&pattern), &letters(&name)));
        }
    }
}
