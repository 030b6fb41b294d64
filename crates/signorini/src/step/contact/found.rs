//! The constraints of a step: what may push, how fast it closes, and how it responds to impulses.

use super::assemble::Rows;
use super::constraint::{ContactConstraint, find_row_velocities};
use super::motion::{Interval, Mechanism, Moving};
use super::quantity::{Displacement, RowDisplacements, RowImpulseTimes, RowImpulses, RowVelocities, Speeds, Tangent};
use super::scheme::Scheme;
use super::search::{Search, Situation};
use crate::contact::delassus::BlockMatrix;
use crate::contact::origin::Origin;
use crate::contact::solve::Reason;
use crate::dynamics::System;
use crate::spatial::Twist;
use crate::step::StepError;

/// Everything that may push in the step, if speeds are what is expected now.
pub(crate) struct Constraints {
    pub search: Search,
    rows: Rows,
    pub list: Vec<ContactConstraint>,
    /// Velocities of the links at the start and at the end of the step, and what strikes have added to their displacement.
    twists: LinkMotions,
    /// First link of each link's mechanism.
    pub root: Vec<usize>,
}

/// Motions of links.
struct LinkMotions {
    start: Vec<Twist>,
    end: Vec<Twist>,
    shift: Vec<Twist>,
}

impl Constraints {
    pub fn new(system: &System, search: Search) -> Self {
        let n_links = system.tree.links.len();
        let still = || vec![Twist::default(); n_links];
        Self {
            search,
            rows: Rows::new(system),
            list: Vec::new(),
            twists: LinkMotions { start: still(), end: still(), shift: still() },
            root: system.group.clone(),
        }
    }

    /// Finds what may push on a motion. `has_struck` says whether strikes have changed it, `has_start_kinematics` whether the workspace
    /// has the velocities at the start.
    pub fn search(
        &mut self,
        scheme: Scheme,
        m: &Mechanism<'_>,
        over: &Interval<'_>,
        now: &Moving,
        (has_struck, has_start_kinematics): (bool, bool),
    ) {
        let (system, kinematics) = (m.system, &m.w.kinematics);
        let twists = &mut self.twists;
        kinematics.find_twists(&system.tree, &now.end, &mut twists.end);
        if has_start_kinematics && !has_struck {
            twists.start.iter_mut().enumerate().for_each(|(i, t)| *t = kinematics.twist(i));
        } else {
            kinematics.find_twists(&system.tree, &now.start, &mut twists.start);
        }
        if has_struck {
            kinematics.find_twists(&system.tree, &now.shift, &mut twists.shift);
        }
        let situation = Situation {
            system,
            w: m.w,
            q: &now.q,
            v: [&now.start, &now.end],
            twists: &twists.end,
            start_twists: &twists.start,
            moved: if has_struck { &twists.shift } else { &[] },
            step: over.h,
            reach: scheme.rules().reach(over.h),
            memory: &over.from.contacts,
        };
        self.search.find(&situation, &mut self.list);
    }

    /// Velocities along all rows at the start of the step.
    pub fn start_velocities(&self, m: &Mechanism<'_>, now: &Moving, out: &mut RowVelocities) {
        find_row_velocities(m.system, m.w, &self.list, (&now.start, &self.twists.start), out.buffer());
    }

    /// The same at its end, as it was when they were found.
    pub fn end_velocities(&self, m: &Mechanism<'_>, now: &Moving, out: &mut RowVelocities) {
        find_row_velocities(m.system, m.w, &self.list, (&now.end, &self.twists.end), out.buffer());
    }

    /// The same for any speeds.
    pub fn velocities(&mut self, m: &Mechanism<'_>, v: &Speeds, out: &mut RowVelocities) {
        self.rows.velocities(m.system, &self.list, v, m.w, out.buffer());
    }

    /// Displacements along all rows.
    pub fn displacements(&mut self, m: &Mechanism<'_>, shift: &Displacement, out: &mut RowDisplacements) {
        self.rows.velocities(m.system, &self.list, shift, m.w, out.buffer());
    }

    /// What forces change in the velocity of a link.
    pub fn given(&self, link: usize) -> Twist {
        self.twists.end[link] - self.twists.start[link]
    }

    /// Makes the response of all that may push known.
    pub fn assemble(&mut self, m: &mut Mechanism<'_>) -> Result<(), StepError> {
        self.rows.assemble(m.system, &self.list, m.w)
    }

    /// The same for some of it.
    pub fn assemble_some(&mut self, m: &mut Mechanism<'_>, members: &[ContactConstraint]) -> Result<(), StepError> {
        self.rows.assemble(m.system, members, m.w)
    }

    /// First row of everything that was assembled, and the number of rows.
    pub fn offsets(&self) -> &[usize] {
        self.rows.offsets()
    }

    /// G, block by block.
    pub fn write_delassus(&mut self, system: &System, out: &mut BlockMatrix) {
        self.rows.write_delassus(system, out);
    }

    /// Where G comes from, where that is worth knowing, and why that was not said.
    pub fn write_origin(&mut self, m: &Mechanism<'_>, out: &mut Origin) -> Option<Reason> {
        self.rows.write_origin(m.system, m.w, out)
    }

    /// Adds to speeds what impulses do: M⁻¹ Wᵀ r.
    pub fn respond(&mut self, m: &Mechanism<'_>, r: &RowImpulses, v: &mut Speeds) {
        self.push(m, r, v);
    }

    /// Adds to a displacement what impulses do in a time.
    pub fn displace(&mut self, m: &Mechanism<'_>, r: &RowImpulseTimes, shift: &mut Displacement) {
        self.push(m, r, shift);
    }

    fn push<U>(&mut self, m: &Mechanism<'_>, r: &[f64], out: &mut Tangent<U>) {
        self.rows.respond(m.system, m.w, r, out);
    }

    /// Marks the mechanisms, by their first links, that something may touch in this step: what was found, and what has struck.
    pub fn mark_touched<'a>(
        &'a self,
        system: &System,
        struck: impl Iterator<Item = &'a ContactConstraint>,
        is_touched: &mut [bool],
    ) {
        is_touched.fill(false);
        for t in self.list.iter().chain(struck) {
            t.links(system).into_iter().flatten().for_each(|l| is_touched[self.root[l]] = true);
        }
    }
}
