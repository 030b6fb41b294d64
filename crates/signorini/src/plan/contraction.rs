//! At which scale of the mechanism a joint lies inside.
//!
//! Bodies are joined into clusters, pair by pair, those first that leave the fewest joints outside; then clusters of clusters.
//! A spanning tree that takes the joints of low levels first is connected within every cluster, and the joints that it cuts
//! are short: of a ladder it keeps one rail and hangs the rungs and pieces of the other rail on it, where a tree that
//! reaches every body by the shortest way from the ground keeps both rails and cuts every rung.

/// Rounds after which what is left counts as one level. A matching halves most graphs; a hub with many loops takes more.
fn max_rounds(n: usize) -> u32 {
    4 * (usize::BITS - n.leading_zeros()) + 8
}

/// Level of each joint, given by its ends (0 is the ground, whose joints have level 0).
pub fn levels(n: usize, ends: &[(usize, usize)]) -> Vec<u32> {
    let mut level = vec![0; ends.len()];
    let mut label: Vec<usize> = (0..n).collect();
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    let mut boundary = vec![0usize; n];
    for round in 1..=max_rounds(n) {
        pairs.clear();
        boundary.fill(0);
        for (j, &(a, b)) in ends.iter().enumerate() {
            let (a, b) = (label[a], label[b]);
            if a != b {
                boundary[a] += 1;
                boundary[b] += 1;
                if a != 0 && b != 0 {
                    pairs.push((a.min(b), a.max(b)));
                    level[j] = round;
                }
            }
        }
        if pairs.is_empty() {
            break;
        }
        pairs.sort_unstable();
        let mut candidates: Vec<(usize, usize, usize)> = Vec::new();
        for group in pairs.chunk_by(|x, y| x == y) {
            let (a, b) = group[0];
            candidates.push((boundary[a] + boundary[b] - 2 * group.len(), a, b));
        }
        candidates.sort_unstable();
        // A pair is joined only where neither has a better one: what waits for its neighbour stays in step with it.
        let mut best = vec![usize::MAX; n];
        for &(left, a, b) in &candidates {
            (best[a], best[b]) = (best[a].min(left), best[b].min(left));
        }
        let mut partner: Vec<usize> = (0..n).collect();
        let mut is_taken = vec![false; n];
        for (left, a, b) in candidates {
            // What has one joint only joins whatever it hangs on, or a star would take a round for every ray.
            let is_leaf = |c: usize| boundary[c] == 1;
            match (is_taken[a], is_taken[b]) {
                (false, false) if left == best[a] && left == best[b] => {
                    (partner[b], is_taken[a], is_taken[b]) = (a, true, true)
                }
                (false, true) if is_leaf(a) => (partner[a], is_taken[a]) = (partner[b], true),
                (true, false) if is_leaf(b) => (partner[b], is_taken[b]) = (partner[a], true),
                _ => {}
            }
        }
        label.iter_mut().for_each(|l| *l = partner[*l]);
    }
    level
}
