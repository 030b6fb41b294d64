//! Where forces go, and what their power counts as.

use super::sight::{Sight, Site, View};
use crate::model::{BodyId, Point};
use crate::spatial::{Vec3, Wrench};

/// What the power of a force counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Work: energy that comes from outside, or goes there.
    Work,
    /// Stored: neither work nor dissipation. The element's potential accounts for it.
    Stored,
    /// Dissipated. Where it feeds energy in, it counts as work.
    Dissipated,
}

/// Rates at which energy passes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Power {
    /// Of loads and motors without potential.
    pub work: f64,
    /// Taken by dampers, positive.
    pub dissipated: f64,
    /// Of forces with a potential, which loses as much.
    pub stored: f64,
}

impl Power {
    /// Whether all of it is finite, and with it the forces: a force that is not gives a power that is not, at any speed.
    pub(super) fn is_finite(&self) -> bool {
        (self.work + self.dissipated + self.stored).is_finite()
    }
}

impl std::ops::AddAssign for Power {
    fn add_assign(&mut self, o: Self) {
        self.work += o.work;
        self.dissipated += o.dissipated;
        self.stored += o.stored;
    }
}

/// Forces on the speeds of one joint, by what they count as.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct JointParts {
    /// Of motors.
    pub work: [f64; 6],
    /// Of springs.
    pub stored: [f64; 6],
    /// Of dampers.
    pub dissipated: [f64; 6],
}

impl JointParts {
    /// The force on one speed.
    pub fn total(&self, k: usize) -> f64 {
        self.stored[k] + self.dissipated[k] + self.work[k]
    }
}

/// Takes the forces of one element after another, and measures what they do.
pub(crate) struct Sink<'a> {
    tau: &'a mut [f64],
    external: &'a mut [Wrench],
    /// Power fed in by the present element: work, stored, dissipated.
    power: [f64; 3],
}

impl<'a> Sink<'a> {
    /// Adds to forces on speeds of the tree and to wrenches on links at their origins.
    pub fn new(tau: &'a mut [f64], external: &'a mut [Wrench]) -> Self {
        Self { tau, external, power: [0.0; 3] }
    }

    /// The same sink for a shorter while; what it measures is to be handed to [`Self::count_on`].
    pub fn reborrow(&mut self) -> Sink<'_> {
        Sink { tau: self.tau, external: self.external, power: self.power }
    }

    /// What has been fed in so far, work, stored and dissipated.
    pub fn measured(&self) -> [f64; 3] {
        self.power
    }

    /// Takes over what was measured meanwhile.
    pub fn count_on(&mut self, measured: [f64; 3]) {
        self.power = measured;
    }

    /// What the element did, and starts the next.
    pub fn take_power(&mut self) -> Power {
        let [work, stored, fed] = std::mem::take(&mut self.power);
        let mut power = Power { work, dissipated: 0.0, stored };
        // A damper that feeds energy in is no damper.
        if fed > 0.0 {
            power.work += fed
        } else {
            power.dissipated -= fed
        }
        power
    }

    fn count(&mut self, flow: Flow, power: f64) {
        self.power[match flow {
            Flow::Work => 0,
            Flow::Stored => 1,
            Flow::Dissipated => 2,
        }] += power;
    }

    /// Adds a wrench, taken at a world point, to a body. On the ground it does nothing.
    pub fn wrench(&mut self, view: &View<'_>, flow: Flow, body: Option<BodyId>, at: &Vec3, w: &Wrench) {
        if let Some(body) = body {
            let link = view.plan.link_of_body[body.index()];
            let shifted = w.shifted(&(at - view.kinematics.origin[link]));
            self.external[link] += shifted;
            self.count(flow, view.kinematics.twist(link).dot(&shifted));
        }
    }

    /// Pulls two points together: the parts are forces on the first, their opposites act on the second.
    pub fn pull(&mut self, view: &View<'_>, ends: [&Point; 2], parts: &[(Flow, Vec3)]) {
        let [(xa, va), (xb, vb)] = ends.map(|p| view.point(p));
        let opening = vb - va;
        parts.iter().for_each(|(flow, force)| self.count(*flow, -force.dot(&opening)));
        let Some(sum) = parts.iter().map(|(_, force)| *force).reduce(|a, b| a + b) else { return };
        self.put(view, ends[0].body, &xa, &Wrench::new(Vec3::zeros(), sum));
        self.put(view, ends[1].body, &xb, &Wrench::new(Vec3::zeros(), -sum));
    }

    /// Adds forces on the speeds of a joint.
    pub fn joint(&mut self, see: &Sight<'_>, site: Site, parts: &JointParts) {
        let v = see.joint_v(site);
        for (k, v) in v.iter().enumerate() {
            self.count(Flow::Work, parts.work[k] * v);
            self.count(Flow::Stored, parts.stored[k] * v);
            self.count(Flow::Dissipated, parts.dissipated[k] * v);
        }
        let view = &see.at.view;
        match site {
            Site::Link(i) => {
                for (k, tau) in self.tau[view.tree.links[i].v_range()].iter_mut().enumerate() {
                    *tau = *tau + parts.stored[k] + parts.dissipated[k] + parts.work[k];
                }
            }
            Site::Cut(c) => {
                let (closure, joint) = (&see.closures[c], &view.model.joints()[see.at.cuts[c].joint.index()]);
                let sum = (0..v.len()).fold(Wrench::default(), |w, k| w + closure.measures[k] * parts.total(k));
                self.put(view, joint.child, &closure.at, &sum);
                self.put(view, joint.parent, &closure.at, &-sum);
            }
        }
    }

    /// Adds a wrench whose power is counted elsewhere.
    fn put(&mut self, view: &View<'_>, body: Option<BodyId>, at: &Vec3, w: &Wrench) {
        if let Some(body) = body {
            let link = view.plan.link_of_body[body.index()];
            self.external[link] += w.shifted(&(at - view.kinematics.origin[link]));
        }
    }
}
