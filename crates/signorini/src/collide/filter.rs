//! Which pairs touch.
//!
//! Two bodies touch unless they are one, are joined, or a rule says otherwise; `enabled = true` in a rule lets joined bodies touch.

use crate::model::{BodyId, Model, Rules};
use std::collections::BTreeSet;

#[derive(Debug, Clone)]
pub(crate) struct Filter {
    rules: Rules,
    /// Joined pairs, sorted.
    joined: Vec<(u32, u32)>,
}

const GROUND: u32 = u32::MAX;

fn key(a: Option<BodyId>, b: Option<BodyId>) -> (u32, u32) {
    let [a, b] = [a, b].map(|body| body.map_or(GROUND, |id| id.0));
    (a.min(b), a.max(b))
}

impl Filter {
    pub(crate) fn build(model: &Model) -> Self {
        let rules = model.rules().clone();
        let mut filter = Self { rules, joined: Vec::new() };
        filter.update_joints(model);
        filter
    }

    /// Takes the joints that exist now.
    pub(crate) fn update_joints(&mut self, model: &Model) {
        let present = model.joints().iter().filter(|joint| !joint.is_absent);
        let joined: BTreeSet<_> = present.map(|joint| key(joint.parent, joint.child)).collect();
        self.joined = joined.into_iter().collect();
    }

    pub(crate) fn allows(&self, a: Option<BodyId>, b: Option<BodyId>) -> bool {
        if a == b {
            return false;
        }
        match self.rules.is_enabled(a, b) {
            Some(enabled) => enabled,
            None => self.joined.binary_search(&key(a, b)).is_err(),
        }
    }

    /// Whether two bodies touch where no joint holds them together.
    pub(crate) fn may_allow(&self, a: Option<BodyId>, b: Option<BodyId>) -> bool {
        a != b && self.rules.is_enabled(a, b) != Some(false)
    }
}
