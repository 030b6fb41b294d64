//! Wrenches on their way inwards, along a tree or within a block.

use crate::spatial::Wrench;

/// A wrench on its way to the ground, and sizes that it would have if nothing had cancelled where ways met.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strand {
    pub link: usize,
    pub wrench: Wrench,
    pub met_moment: f64,
    pub met_force: f64,
}

impl Strand {
    /// A wrench where it begins.
    pub fn new(link: usize, wrench: Wrench) -> Self {
        Self { link, wrench, met_moment: 0.0, met_force: 0.0 }
    }
}

/// Takes all strands at a link as one.
pub(crate) fn take_strand(strands: &mut Vec<Strand>, link: usize) -> Strand {
    let mut taken = Strand::new(link, Wrench::default());
    let mut n = 0;
    strands.retain(|s| {
        if s.link != link {
            return true;
        }
        if n == 0 {
            taken = *s;
        } else {
            let size = |s: &Strand| (s.wrench.moment.norm().max(s.met_moment), s.wrench.force.norm().max(s.met_force));
            let ((m, f), (n, g)) = (size(&taken), size(s));
            taken = Strand { link, wrench: taken.wrench + s.wrench, met_moment: m + n, met_force: f + g };
        }
        n += 1;
        false
    });
    taken
}
