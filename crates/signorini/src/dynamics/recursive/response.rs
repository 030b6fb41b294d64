//! What impulses at ports do to the speeds of a mechanism.
//!
//! **Problem.** For impulses r at ports find M⁻¹ Wᵀ r, with loops kept closed.
//!
//! **Method.** All wrenches on a link are one wrench. The sweeps of `aba.rs` without bias take it inwards through the pivots that are
//! there, and bring the changes of speeds outwards. Where loops have changed the columns of Y, what arrives at the pivots is Y r instead.
//!
//! **Cost.** O(n + rows); O(n · rows) where there are loops.
//!
//! **Fails when** never.
//!
//! **Checked by** `tests/contact_motion.rs`, against `dense`.

use super::Swept;
use super::ports::{Ports, Push};
use crate::dynamics::tree::{LinkKind, Tree};
use crate::simd::wide;
use crate::spatial::{Twist, Vec3, Wrench};

/// Scratch, all zero between uses.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    wrenches: Vec<Wrench>,
    /// What arrives at each pivot: forces, or entries of Y r.
    arrived: Vec<f64>,
    twists: Vec<Twist>,
}

impl Scratch {
    pub(super) fn new(tree: &Tree, n_extra: usize) -> Self {
        let n = tree.links.len();
        let (wrenches, twists) = (vec![Wrench::default(); n], vec![Twist::default(); n]);
        Self { wrenches, twists, arrived: vec![0.0; tree.n_v + n_extra] }
    }
}

impl Ports {
    /// Adds M⁻¹ Wᵀ r to speeds.
    pub fn respond(&mut self, swept: Swept<'_>, r: &[f64], v: &mut [f64]) {
        wide!(self.answer(swept, r, v));
    }

    #[inline(always)]
    fn answer(&mut self, swept: Swept<'_>, r: &[f64], v: &mut [f64]) {
        match self.n_full {
            Some(n_full) => self.collect_entries(n_full, r),
            None => self.collect_forces(swept, r),
        }
        let Scratch { arrived, twists, .. } = &mut self.response;
        for (i, link) in swept.tree.links.iter().enumerate() {
            let inner = link.parent_index().map_or_else(Twist::default, |p| twists[p]);
            let motion = &swept.kinematics.links[i];
            let mut a = inner.shifted(&motion.offset);
            for at in link.v_range().rev() {
                let pivot = &swept.pivots[at];
                if pivot.inverse > 0.0 {
                    let change = arrived[at] - a.dot(&pivot.across) * pivot.inverse;
                    v[at] += change;
                    match link.kind {
                        LinkKind::Revolute(axis) => a.angular += axis.of(&motion.rotation) * change,
                        LinkKind::General { .. } => a += swept.kinematics.columns[at] * change,
                    }
                }
            }
            twists[i] = a;
        }
        arrived.fill(0.0);
    }

    /// Inwards, from wrenches to what each pivot makes of the force that arrives.
    #[inline(always)]
    fn collect_forces(&mut self, swept: Swept<'_>, r: &[f64]) {
        let Scratch { wrenches, arrived, .. } = &mut self.response;
        for (push, rows) in self.pushes.iter().zip(self.offsets.windows(2)) {
            let r = &r[rows[0]..rows[1]];
            match push {
                Push::Speed(v, sign) => arrived[*v] += sign * r[0],
                Push::Links(links) => {
                    for (link, at) in links.iter().flatten() {
                        let mut sum = [0.0; 6];
                        for (w, r) in self.wrenches[*at..].iter().zip(r) {
                            sum.iter_mut().zip(w).for_each(|(s, w)| *s += w * r);
                        }
                        let [a, b, c, x, y, z] = sum;
                        wrenches[*link as usize] += Wrench::new(Vec3::new(a, b, c), Vec3::new(x, y, z));
                    }
                }
            }
        }
        for (i, link) in swept.tree.links.iter().enumerate().rev() {
            let mut w = std::mem::take(&mut wrenches[i]);
            for at in link.v_range() {
                let pivot = &swept.pivots[at];
                let along = match link.kind {
                    LinkKind::Revolute(axis) => axis.of(&swept.kinematics.links[i].rotation).dot(&w.moment),
                    LinkKind::General { .. } => swept.kinematics.columns[at].dot(&w),
                };
                let force = arrived[at] + along;
                arrived[at] = force * pivot.inverse;
                w = w - pivot.across * arrived[at];
            }
            if let Some(p) = link.parent_index() {
                wrenches[p] += w.shifted(&swept.kinematics.links[i].offset);
            }
        }
    }

    /// Y r of full columns, as what each pivot makes of it.
    fn collect_entries(&mut self, n_full: usize, r: &[f64]) {
        let arrived = &mut self.response.arrived;
        for (column, r) in self.values.chunks_exact(n_full.max(1)).zip(r) {
            arrived.iter_mut().zip(column).for_each(|(y, c)| *y += c * r);
        }
        let per_unit = 1.0 / self.mass_unit;
        arrived.iter_mut().zip(&self.roots).for_each(|(y, root)| *y *= per_unit * root);
    }
}
