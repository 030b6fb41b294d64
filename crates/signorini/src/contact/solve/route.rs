//! The matrix in which Newton's equations are solved: the one that counts fewest multiplications. All rules of that kind are here.
//!
//! **Problem.** (A + B (W + α)) x = b has as many rows as contacts have, or as many as what they touch has freedoms (`woodbury.rs`).
//!
//! **Method.** Every route counts the multiplications of one factorisation: dense ones n³/3; blocks by the pattern of their factor; links and speeds by theirs. The least
//! wins. No rule looks at a number of contacts.
//!
//! **Cost.** The symbolic part of what is compared, which is kept while the graph of contacts is.
//!
//! **Fails when** never; counts of blocks before their pattern is known are estimates.
//!
//! **Checked by** the tests below, and by the ablation (`cases/experiments/contact-ablation.md`).

use super::speed_lu::MOST_SPEEDS;

/// Multiplications per link of the least that elimination by links takes.
const PER_LINK: usize = 150;

/// A dense matrix.
pub fn dense(rows: usize) -> f64 {
    let n = rows as f64;
    n * n * n / 3.0
}

/// Whether blocks are less work than a dense matrix. Each of m contacts of d rows meets s/m others, fill doubles that: m d³ (2 s/m)²/3 against (m d)³/3. It is
/// the same comparison for every share of the contacts that is active.
pub fn is_sparse(contacts: usize, stored: usize) -> bool {
    2 * stored < contacts * contacts
}

/// Blocks with s stored ones of d rows, before their pattern is known.
pub fn blocks(contacts: usize, stored: usize, dim: usize) -> f64 {
    let (m, d) = (contacts as f64, dim as f64);
    let met = 2.0 * stored as f64 / m.max(1.0);
    d * d * d / 3.0 * m * met * met
}

/// What a problem should say of its origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Nothing: W itself is small.
    Nothing,
    /// Its columns over the speeds of a small machine.
    Speeds,
    /// Trees of links.
    Links,
}

/// Whether it may pay to say where W comes from.
pub fn find_wanted(rows: usize, speeds: usize, links: usize) -> Wanted {
    let of_w = dense(rows);
    if speeds <= MOST_SPEEDS {
        // Every row is carried by some of the speeds; with fewer than three rows per contact it is less.
        let of_speeds = dense(speeds) + (rows * speeds) as f64;
        return if of_speeds < of_w { Wanted::Speeds } else { Wanted::Nothing };
    }
    if (PER_LINK * links) as f64 > of_w { Wanted::Nothing } else { Wanted::Links }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A full matrix is dense, a chain of contacts is not.
    #[test]
    fn counts_decide() {
        assert!(!is_sparse(10, 100) && is_sparse(10, 28));
        assert!(blocks(10, 100, 3) > dense(30) && blocks(100, 298, 3) < dense(300));
        assert_eq!(find_wanted(9, 20, 5), Wanted::Nothing);
        assert_eq!(find_wanted(36, 20, 5), Wanted::Speeds);
        assert_eq!(find_wanted(12, 600, 100), Wanted::Nothing);
        assert_eq!(find_wanted(300, 600, 100), Wanted::Links);
    }
}
