//! Spring and damper between two points.

use super::sink::{Flow, Sink};
use super::{Configuration, Element, Sight};
use crate::model::SpringDamper;

impl SpringDamper {
    /// Whether its ends coincide, where a spring that rests at another length has no direction.
    pub(super) fn is_collapsed(&self, at: &Configuration<'_>) -> bool {
        let has_rest = self.stiffness != 0.0 && self.length != 0.0;
        has_rest && at.view.point(&self.a).0 == at.view.point(&self.b).0
    }
}

impl Element for SpringDamper {
    fn n_scratch(&self) -> usize {
        0
    }

    fn apply(&self, see: &Sight<'_>, _: &mut [f64], out: &mut Sink<'_>) {
        let view = &see.at.view;
        let ((xa, va), (xb, vb)) = (view.point(&self.a), view.point(&self.b));
        let (d, opening) = (xb - xa, vb - va);
        let l = d.norm();
        // Where the ends meet the direction is that in which they part: the limit from both sides, but for the sign. Ends that rest there have
        // none: a damper then does nothing, and a spring that rests elsewhere is reported as not finite.
        let (n, size) = if l > 0.0 { (d, l) } else { (opening, opening.norm()) };
        let n = if size > 0.0 || self.length != 0.0 { n / size } else { n };
        let elastic = if self.length == 0.0 { d * self.stiffness } else { n * (self.stiffness * (l - self.length)) };
        let viscous = if size > 0.0 { n * (self.damping * n.dot(&opening)) } else { opening };
        let parts = [(Flow::Stored, elastic), (Flow::Dissipated, viscous)];
        out.pull(view, [&self.a, &self.b], &parts[..if self.damping == 0.0 { 1 } else { 2 }]);
    }

    fn potential(&self, at: &Configuration<'_>) -> f64 {
        let stretch = (at.view.point(&self.b).0 - at.view.point(&self.a).0).norm() - self.length;
        0.5 * self.stiffness * stretch * stretch
    }
}
