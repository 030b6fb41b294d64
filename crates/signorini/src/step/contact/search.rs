//! What may push in a step: contacts of shapes, joints at their limits, dry friction in joints.

use super::constraint::{ContactConstraint, Law, directed, frame_axis};
use super::faces;
use crate::collide::{self, World};
use crate::dynamics::Attachment;
use crate::dynamics::{System, Workspace};
use crate::model::{BodyId, Fittings};
use crate::spatial::{Pose, Twist, Vec3};
use crate::state::ContactMemory;

/// Steps at the present speed within which a limit is watched.
const LIMIT_MARGIN: f64 = 2.0;

/// Rounding errors that the distance of two bodies has gathered, in units of the size of their coordinates. A few dozen operations
/// lie between a pose and a gap.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Marks the names of what pushes in joints, and puts them behind all contacts.
const IN_JOINT: u64 = 1 << 63;

/// What searches for all that may push, with its memory.
pub(crate) struct Search {
    /// None where no two bodies may touch.
    world: Option<World>,
    memory: collide::Scratch,
    found: Vec<collide::Contact>,
    link_of_body: Vec<usize>,
    /// Bodies with shapes.
    shaped: Vec<usize>,
    poses: Vec<Pose>,
    twists: Vec<Twist>,
    /// How far the shapes of each body reach from its origin.
    reaches: Vec<f64>,
    /// Joints with limits or dry friction.
    joints: Vec<usize>,
}

/// Where and how fast everything is.
pub(crate) struct Situation<'a> {
    pub system: &'a System,
    pub w: &'a Workspace,
    pub q: &'a [f64],
    /// Speeds at the start of the step, and expected at its end.
    pub v: [&'a [f64]; 2],
    /// Velocities of the links at the expected speeds, and at the start of the step.
    pub twists: &'a [Twist],
    pub start_twists: &'a [Twist],
    /// What strikes have added to the displacement of each link; empty where nothing struck.
    pub moved: &'a [Twist],
    pub step: f64,
    /// Time over which bodies are expected to move: the step, or none where only what forces might close in a step is looked for.
    pub reach: f64,
    /// What pushed in the last step.
    pub memory: &'a [ContactMemory],
}

impl Situation<'_> {
    /// Speed with which a limit may be approached: the larger of those at both ends of the step, or what forces give.
    fn fastest(&self, start: f64, end: f64) -> f64 {
        if self.reach < self.step { (end - start).abs() } else { start.abs().max(end.abs()) }
    }
}

fn pushes(f: &Fittings) -> bool {
    !(f.lower.is_empty() && f.upper.is_empty() && f.friction.is_empty() && f.friction_load.is_empty())
}

impl Search {
    /// None where nothing can push.
    pub fn build(system: &System) -> Result<Option<Self>, collide::WorldError> {
        let model = &system.model;
        let joints: Vec<usize> = (0..model.joints().len()).filter(|&j| pushes(&model.joints()[j].fittings)).collect();
        let mut world = None;
        if !model.shapes().is_empty() {
            world = Some(World::build(model)?).filter(|w| w.first_pair().is_some() || w.first_freed(model).is_some());
        }
        if joints.is_empty() && world.is_none() {
            return Ok(None);
        }
        let n = model.bodies().len();
        let mut link_of_body = vec![0; n];
        for (link, body) in system.tree.body.iter().enumerate() {
            link_of_body[body.index()] = link;
        }
        let mut shaped: Vec<usize> = model.shapes().iter().filter_map(|s| s.body.map(BodyId::index)).collect();
        shaped.sort_unstable();
        shaped.dedup();
        let mut memory = collide::Scratch::default();
        memory.allowance.resize(n, 0.0);
        let reaches = (0..n).map(|b| world.as_ref().map_or(0.0, |w| w.reach(BodyId(b as u32)))).collect();
        Ok(Some(Self {
            world,
            memory,
            found: Vec::new(),
            link_of_body,
            shaped,
            poses: vec![Pose::identity(); n],
            twists: vec![Twist::default(); n],
            reaches,
            joints,
        }))
    }

    /// Two bodies that may touch, or a joint in which something pushes, in words.
    pub fn example(&self, system: &System) -> String {
        let name = |b: Option<BodyId>| match b {
            Some(b) => format!("`{}`", system.model.bodies()[b.index()].name),
            None => "the ground".to_owned(),
        };
        let freed = |w: &World| w.first_pair().or_else(|| w.first_freed(&system.model));
        match (self.world.as_ref().and_then(freed), self.joints.first()) {
            (Some([a, b]), _) => format!("{} and {} may touch", name(a), name(b)),
            (None, Some(&j)) => format!("joint `{}` has limits or dry friction", system.model.joints()[j].name),
            (None, None) => String::new(),
        }
    }

    /// The link of a body.
    pub fn link_of(&self, body: BodyId) -> usize {
        self.link_of_body[body.index()]
    }

    /// Everything that may push in the step, in the order of names.
    pub fn find(&mut self, now: &Situation<'_>, out: &mut Vec<ContactConstraint>) {
        out.clear();
        self.find_contacts(now, out);
        for i in 0..self.joints.len() {
            push_joint(self.joints[i], now, out);
        }
    }

    fn find_contacts(&mut self, now: &Situation<'_>, out: &mut Vec<ContactConstraint>) {
        let Some(world) = &self.world else { return };
        let (tree, kinematics) = (&now.system.tree, &now.w.kinematics);
        for &b in &self.shaped {
            let link = self.link_of_body[b];
            let local = &tree.body_pose[link];
            let pose = kinematics.pose(link);
            let arm = pose.rotation * local.translation;
            self.poses[b] = pose * *local;
            self.twists[b] = now.twists[link].shifted(&arm);
            // Contact may take back what forces give: a body that is held up does not move as expected.
            let given = (now.twists[link] - now.start_twists[link]).shifted(&arm);
            self.memory.allowance[b] = now.step * given.linear.norm();
            // A search that foresees motion allows for turning itself.
            if now.reach < now.step {
                self.memory.allowance[b] += now.step * given.angular.norm() * self.reaches[b];
            }
            if let Some(moved) = now.moved.get(link) {
                let moved = moved.shifted(&arm);
                self.memory.allowance[b] += moved.linear.norm() + moved.angular.norm() * self.reaches[b];
            }
        }
        let held = &mut self.memory.held;
        held.clear();
        held.extend(now.memory.iter().filter(|m| m.impulse[0] > 0.0 && joint_of(m.id).is_none()).map(|m| m.id[0]));
        held.dedup();
        world.find_contacts(&self.poses, &self.twists, now.reach, &mut self.memory, &mut self.found);
        let length = now.system.model.characteristic_length();
        let first = out.len();
        let laws = now.system.model.laws().laws();
        for c in &self.found {
            let surface = |shape: usize| {
                let s = &world.shapes()[shape];
                s.body.map_or(s.surface_velocity, |b| self.poses[b.index()].rotation * s.surface_velocity)
            };
            let [a, b] = c.id.shapes();
            let drift = surface(b) - surface(a);
            let axis = laws.get(c.law).frame.map(|f| frame_axis(&f, now.system, now.w, &self.link_of_body));
            let tangents = axis.and_then(|axis| directed(&axis, &c.normal)).unwrap_or(c.tangent);
            out.push(ContactConstraint {
                id: [c.id.pair, c.id.feature],
                place: Attachment::Links([c.a, c.b].map(|b| b.map(|b| self.link_of_body[b.index()]))),
                law: Law::Contact(c.law),
                rows: laws.rows(c.law),
                bodies: [c.a, c.b],
                points: [c.on_a, c.on_b],
                normal: c.normal,
                tangents,
                gap: c.gap,
                rounding: ROUNDING * (length + c.point.norm()),
                restitution: laws.get(c.law).restitution,
                // A belt moves along itself; what a scene says across it pushes nothing.
                drift: tangents.map(|t| t.dot(&drift)),
            });
        }
        faces::regularise_manifold(&mut out[first..]);
    }
}

/// Limits of one joint that may be reached, and its dry friction.
fn push_joint(j: usize, now: &Situation<'_>, out: &mut Vec<ContactConstraint>) {
    let (system, w) = (now.system, now.w);
    let joint = &system.model.joints()[j];
    let f = &joint.fittings;
    if joint.is_absent {
        return;
    }
    for k in (0..joint.v.len()).filter(|&k| f.motion(k).is_none()) {
        let (place, q, v) = match system.plan.link_of_joint[j] {
            Some(link) => {
                let l = &system.tree.links[link];
                let (at_q, at_v) = (l.q as usize + k, l.v as usize + k);
                let fastest = now.fastest(now.v[0][at_v], now.v[1][at_v]);
                (Attachment::Speed { link, speed: at_v }, now.q[at_q], fastest)
            }
            None => {
                let Some(cut) = system.cuts.iter().position(|c| c.joint.index() == j) else {
                    continue;
                };
                let (joint, closure) = (&system.cuts[cut], &w.closures[cut]);
                let end = joint.relative_motion(closure, now.twists).dot(&closure.measures[k]);
                let fastest = now.fastest(w.cut_v[joint.v.start + k], end);
                (Attachment::Cut { cut, k }, w.cut_q[joint.q.start + k], fastest)
            }
        };
        let row = |law: Law, gap: f64, rounding: f64, tag: u64| ContactConstraint {
            id: [IN_JOINT | j as u64, k as u64 * 8 + tag],
            place,
            law,
            gap,
            rounding,
            restitution: f.restitution,
            normal: Vec3::zeros(),
            tangents: [Vec3::zeros(); 2],
            ..ContactConstraint::default()
        };
        for (side, limits, tag) in [(1.0, &f.lower, 0), (-1.0, &f.upper, 1)] {
            let Some(limit) = limits.get(k).filter(|x| x.is_finite()) else { continue };
            let gap = side * (q - limit);
            let rounding = ROUNDING * (q.abs() + limit.abs());
            if gap <= LIMIT_MARGIN * now.step * v + rounding {
                out.push(row(Law::Limit { side }, gap, rounding, tag));
            }
        }
        let mut bound = f.friction.get(k).copied().unwrap_or(0.0);
        if let Some(share) = f.friction_load.get(k).filter(|share| **share > 0.0) {
            let id = row(Law::Limit { side: 1.0 }, 0.0, 0.0, 2).id;
            let at = now.memory.binary_search_by(|m| m.id.cmp(&id));
            bound += share * at.map_or(0.0, |at| now.memory[at].load);
        }
        if !f.friction.is_empty() || !f.friction_load.is_empty() {
            out.push(row(Law::DryFriction { bound: bound * now.step }, 0.0, 0.0, 2));
        }
    }
}

/// The joint that a row in a joint belongs to, and its coordinate.
pub(crate) fn joint_of(id: [u64; 2]) -> Option<(usize, usize)> {
    (id[0] & IN_JOINT != 0).then_some(((id[0] & !IN_JOINT) as usize, (id[1] / 8) as usize))
}
