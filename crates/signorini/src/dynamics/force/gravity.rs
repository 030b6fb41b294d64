//! Servos that hold what their joint carries against gravity.

use super::joint::sites;
use super::sight::Site;
use super::sink::{JointParts, Sink};
use super::{Configuration, Element, Sight, View};
use crate::dynamics::tree::Tree;
use crate::model::{JointId, Model};
use crate::plan::Plan;
use crate::spatial::Wrench;

/// The force that holds a joint of the tree against the weight of all that it carries: gravity's share of inverse dynamics.
#[derive(Debug, Clone)]
pub(crate) struct GravityHold {
    joint: JointId,
    link: usize,
    /// Speeds of the joint that are held.
    held: Vec<usize>,
    /// The links that it carries, its own first.
    carried: Vec<usize>,
}

impl GravityHold {
    /// Joints of the tree whose servos ask for it.
    pub fn build_all(model: &Model, plan: &Plan, tree: &Tree) -> Vec<Self> {
        let mut all = Vec::new();
        for (joint, site) in sites(plan, &[]) {
            let Site::Link(link) = site else { continue };
            let motors = &model.joints()[joint.index()].fittings.motors;
            let asks = |k: &usize| {
                motors.iter().any(|m| m.coordinate == *k && m.kind.servo().is_some_and(|s| s.compensates_gravity))
            };
            let held: Vec<usize> = (0..tree.links[link].n_v as usize).filter(asks).collect();
            if !held.is_empty() {
                let mut is_carried = vec![false; tree.links.len()];
                is_carried[link] = true;
                for i in link + 1..tree.links.len() {
                    is_carried[i] = tree.links[i].parent_index().is_some_and(|p| is_carried[p]);
                }
                let carried = (link..tree.links.len()).filter(|i| is_carried[*i]).collect();
                all.push(Self { joint, link, held, carried });
            }
        }
        all
    }

    /// The joint's name.
    pub fn name<'a>(&self, model: &'a Model) -> &'a str {
        &model.joints()[self.joint.index()].name
    }
}

impl Element for GravityHold {
    fn n_scratch(&self) -> usize {
        0
    }

    fn apply(&self, see: &Sight<'_>, _: &mut [f64], out: &mut Sink<'_>) {
        out.joint(see, Site::Link(self.link), &JointParts { work: self.force(&see.at.view), ..JointParts::default() });
    }

    fn potential(&self, _: &Configuration<'_>) -> f64 {
        0.0
    }
}

impl GravityHold {
    /// The joint, and the force on each of its speeds.
    pub fn force_in_joint(&self, view: &View<'_>) -> (JointId, [f64; 6]) {
        (self.joint, self.force(view))
    }

    fn force(&self, view: &View<'_>) -> [f64; 6] {
        let (gravity, kinematics, links) = (view.model.gravity(), view.kinematics, &view.tree.links);
        let origin = kinematics.origin[self.link];
        let weight = self.carried.iter().fold(Wrench::default(), |sum, &i| {
            let com = kinematics.origin[i] + kinematics.links[i].rotation * links[i].inertia.com - origin;
            let force = gravity * links[i].inertia.mass;
            sum + Wrench::new(com.cross(&force), force)
        });
        let mut force = [0.0; 6];
        let first = links[self.link].v as usize;
        for &k in &self.held {
            force[k] = -kinematics.unit_motion(self.link, &links[self.link], first + k).dot(&weight);
        }
        force
    }
}
