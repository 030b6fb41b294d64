//! Which pairs touch, and with what coefficients.
//!
//! Two bodies touch unless they are one, are joined, or a rule says otherwise; `enabled = true` in a rule lets joined bodies touch.
//! Friction is what the rules for the bodies say, else those for the materials, else the geometric mean √(μ_a μ_b); restitution
//! likewise, else the larger of the two. A material that says nothing leaves it to the other; if both are silent it is zero.

use crate::model::{BodyId, Model, Rules, Shape};
use std::collections::BTreeSet;

/// Friction and restitution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Law {
    pub friction: f64,
    pub restitution: f64,
}

#[derive(Debug, Clone)]
pub(crate) struct Filter {
    rules: Rules,
    materials: Vec<crate::model::Material>,
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
        let mut filter = Self { rules, materials: model.materials().to_vec(), joined: Vec::new() };
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
        match self.rules.of_bodies(a, b).is_enabled {
            Some(enabled) => enabled,
            None => self.joined.binary_search(&key(a, b)).is_err(),
        }
    }

    /// Whether two bodies touch where no joint holds them together.
    pub(crate) fn may_allow(&self, a: Option<BodyId>, b: Option<BodyId>) -> bool {
        a != b && self.rules.of_bodies(a, b).is_enabled != Some(false)
    }

    pub(crate) fn law(&self, a: &Shape, b: &Shape) -> Law {
        let said = self.rules.of_materials(a.material, b.material).then(&self.rules.of_bodies(a.body, b.body));
        let [a, b] =
            [a, b].map(|s| s.material.and_then(|m| self.materials.get(m as usize).copied()).unwrap_or_default());
        let either = |a: Option<f64>, b: Option<f64>, mix: fn(f64, f64) -> f64| match (a, b) {
            (Some(a), Some(b)) => mix(a, b),
            (Some(x), None) | (None, Some(x)) => x,
            (None, None) => 0.0,
        };
        Law {
            friction: said.friction.unwrap_or_else(|| either(a.friction, b.friction, |a, b| (a * b).sqrt())),
            restitution: said.restitution.unwrap_or_else(|| either(a.restitution, b.restitution, f64::max)),
        }
    }
}
