//! What a step leaves behind: reports of contacts and joints, the memory of the next step, and what of it was a blow.

use super::constraint::ContactConstraint;
use super::found::Constraints;
use super::impacts::{ImpactRecord, Impacts};
use super::report::{ContactReport, JointConstraintForce};
use super::search::joint_of;
use super::velocity::VelocityProblem;
use crate::contact::RowValues;
use crate::dynamics::System;
use crate::state::ContactMemory;
use crate::step::StepReport;

/// Contacts, limits and dry friction of the last step.
#[derive(Default)]
pub(crate) struct Outcome {
    pub contacts: Vec<ContactReport>,
    pub pushes: Vec<JointConstraintForce>,
    /// By the first link of each mechanism: whether a blow has reached it.
    is_struck: Vec<bool>,
}

/// What one constraint did: impulse, the part of it that was a blow, velocity at the end of the step.
struct Did {
    impulse: Spread,
    struck: f64,
    end: Spread,
    /// Velocities with and without the impulse, when it pushed: at the end of the step, or at its strike.
    pushing: [Spread; 2],
}

/// Along the normal and both tangents, and about them.
type Spread = [[f64; 3]; 2];

impl Did {
    /// Of what struck and is out of reach by now.
    fn strike(x: &ImpactRecord) -> Self {
        Self { impulse: x.impulse, struck: x.impulse[0][0], end: x.velocity, pushing: [x.velocity, x.before] }
    }
}

impl Outcome {
    /// Forgets the last step.
    pub fn clear(&mut self) {
        self.contacts.clear();
        self.pushes.clear();
    }

    /// Takes what the stages of a step of length `h` have found.
    pub fn write(
        &mut self,
        (system, h): (&System, f64),
        found: &Constraints,
        impacts: &mut Impacts,
        velocity: &VelocityProblem,
        memory: &mut Vec<ContactMemory>,
        report: &mut StepReport,
    ) {
        let mut struck = impacts.sorted().iter().peekable();
        for (c, t) in found.list.iter().enumerate() {
            while let Some(x) = struck.next_if(|x| x.constraint.id < t.id) {
                self.note((system, h), &x.constraint, &Did::strike(x));
            }
            let at = found.offsets()[c];
            let own = at..at + t.n_rows();
            let tangents = t.tangents.map(<[f64; 3]>::from);
            let rows = |x: &[f64]| RowValues::new(&x[own.clone()]);
            let (impulse, before) = (rows(&velocity.solution.r), rows(velocity.warm.last()));
            memory.push(ContactMemory { id: t.id, impulse, before, tangents, load: 0.0 });
            let spread = |x: &[f64]| t.rows.spread(&x[own.clone()]);
            let mut impulse = spread(&velocity.solution.r);
            // What closes in this step, or was still closing, and not by the step's own forces.
            let (start, free) = (velocity.start[at], velocity.free[at]);
            let closes = t.gap > t.rounding || -start > (free - start).abs();
            let mut struck_by = if closes { impulse[0][0] } else { 0.0 };
            let mut pushing = [spread(&velocity.end), spread(&velocity.free)];
            let only_strikes = impulse[0][0] == 0.0;
            while let Some(x) = struck.next_if(|x| x.constraint.id == t.id) {
                // Its directions may have changed since.
                impulse = x.add_to(t, impulse);
                struck_by += x.impulse[0][0];
                if only_strikes {
                    pushing = [x.velocity, x.before];
                }
            }
            let did = Did { impulse, struck: struck_by, end: spread(&velocity.end), pushing };
            self.note((system, h), t, &did);
            if t.is_unilateral() && t.gap < -t.rounding {
                report.penetration = report.penetration.max(-t.gap);
            }
        }
        for x in struck {
            self.note((system, h), &x.constraint, &Did::strike(x));
        }
        report.contacts = self.contacts.len() as u32;
        self.spread_blows(system, found);
    }

    fn note(&mut self, (system, h): (&System, f64), t: &ContactConstraint, did: &Did) {
        let Some((joint, coordinate)) = joint_of(t.id) else {
            let laws = system.model.laws().laws();
            self.contacts.push(ContactReport::new((t, laws), did.impulse, did.struck, did.end, &did.pushing));
            return;
        };
        let (is_limit, force) = (t.is_unilateral(), t.side() * did.impulse[0][0] / h);
        let struck = if is_limit { t.side() * did.struck } else { 0.0 };
        self.pushes.push(JointConstraintForce { joint, coordinate, is_limit, force, struck });
    }

    /// Whether anything struck.
    pub fn has_struck(&self) -> bool {
        self.contacts.iter().any(|c| c.struck > 0.0) || self.pushes.iter().any(|p| p.struck != 0.0)
    }

    /// Where something strikes a mechanism, all its contacts pass the blow on: their impulses do not shrink with the step, and are no forces either.
    fn spread_blows(&mut self, system: &System, found: &Constraints) {
        let Self { contacts, pushes, is_struck } = self;
        if contacts.iter().all(|c| c.struck == 0.0) && pushes.iter().all(|p| p.struck == 0.0) {
            return;
        }
        let root = &found.root;
        is_struck.clear();
        is_struck.resize(root.len(), false);
        let roots = |c: &ContactReport| c.bodies.map(|b| b.map(|b| root[found.search.link_of(b)]));
        for p in pushes.iter().filter(|p| p.struck != 0.0) {
            system.links_of_joint(p.joint).into_iter().flatten().for_each(|l| is_struck[root[l]] = true);
        }
        for c in contacts.iter().filter(|c| c.struck > 0.0) {
            roots(c).into_iter().flatten().for_each(|r| is_struck[r] = true);
        }
        // Blows travel from mechanism to mechanism.
        let mut is_settled = false;
        while !is_settled {
            is_settled = true;
            for c in contacts.iter_mut().filter(|c| c.impulse[0] > 0.0) {
                let ends = roots(c);
                if ends.into_iter().flatten().any(|r| is_struck[r]) {
                    c.struck = c.impulse[0];
                    for r in ends.into_iter().flatten() {
                        is_settled &= is_struck[r];
                        is_struck[r] = true;
                    }
                }
            }
        }
    }
}

impl System {
    /// The links of a joint, its own for one of the tree.
    fn links_of_joint(&self, joint: usize) -> [Option<usize>; 2] {
        let cut = || self.cuts.iter().find(|c| c.joint.index() == joint).map_or([None; 2], |c| [c.parent, c.child]);
        self.plan.link_of_joint[joint].map_or_else(cut, |link| [Some(link), None])
    }
}
