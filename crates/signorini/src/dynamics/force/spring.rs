//! Spring and damper between two points.

use super::sink::{Flow, Sink};
use super::{Configuration, Element, Sight};
use crate::model::SpringDamper;

impl Element for SpringDamper {
    fn n_scratch(&self) -> usize {
        0
    }

    fn apply(&self, see: &Sight<'_>, _: &mut [f64], out: &mut Sink<'_>) {
        let view = &see.at.view;
        let ((xa, va), (xb, vb)) = (view.point(&self.a), view.point(&self.b));
        let d = xb - xa;
        let l = d.norm();
        // At length zero a spring that rests elsewhere has no direction: the result is not a number, and is reported.
        let n = d / l;
        let elastic = if self.length == 0.0 { d * self.stiffness } else { n * (self.stiffness * (l - self.length)) };
        let parts = [(Flow::Stored, elastic), (Flow::Dissipated, n * (self.damping * n.dot(&(vb - va))))];
        out.pull(view, [&self.a, &self.b], &parts[..if self.damping == 0.0 { 1 } else { 2 }]);
    }

    fn potential(&self, at: &Configuration<'_>) -> f64 {
        let stretch = (at.view.point(&self.b).0 - at.view.point(&self.a).0).norm() - self.length;
        0.5 * self.stiffness * stretch * stretch
    }
}
