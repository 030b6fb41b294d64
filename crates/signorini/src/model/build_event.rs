//! From the scene's events to events as numbers.

use super::build::{ModelError, canonical_axes};
use super::event::{Action, Condition, Event, Lock, Placement, Quantity, Trigger};
use super::joint::JointType;
use super::{Body, BodyId, Coupling, CouplingId, Fittings, Joint, JointId, Point};
use crate::scene::pattern::matches;
use crate::scene::validate::event::changed_joint;
use crate::scene::{self, Attachment, EventKind, JointKind, Scene};
use crate::spatial::{Mat3, Pose, Vec3};
use std::collections::HashMap;
use std::f64::consts::TAU;

type Bodies<'a> = HashMap<&'a str, Option<BodyId>>;

/// Most coordinates and speeds that a joint has in the course of the run.
pub(super) fn room(scene: &Scene, joint: &scene::Joint) -> (usize, usize) {
    let later = scene.event.iter().filter(|e| e.joint.as_deref() == Some(&joint.name)).filter_map(|e| e.to);
    later.chain([joint.kind]).fold((0, 0), |(q, v), kind| (q.max(kind.n_q()), v.max(kind.n_v())))
}

/// How an absent joint finds its place: a frame that is not given goes where the other one is.
pub(super) fn placement(joint: &scene::Joint) -> Placement {
    match (&joint.parent_frame, &joint.child_frame) {
        _ if !joint.absent || joint.anchor.is_some() => Placement::Given,
        (Some(_), Some(_)) => Placement::Given,
        (Some(_), None) => Placement::AtParent,
        (None, _) => Placement::AtChild,
    }
}

/// The joint that a weld will make.
pub(super) fn weld_joint(names: &Bodies<'_>, event: &scene::Event, i: usize) -> Result<Option<Joint>, ModelError> {
    let (EventKind::Weld, Some([parent, child])) = (event.kind, event.bodies.as_deref()) else { return Ok(None) };
    let body = |name: &String| names.get(name.as_str()).copied();
    let (Some(parent), Some(child)) = (body(parent), body(child)) else {
        return Err(ModelError::new(format!("event[{i}].bodies"), "no such body"));
    };
    Ok(Some(Joint {
        name: event.name.clone(),
        joint_type: JointType { kind: JointKind::Fixed, lead: 0.0 },
        parent,
        child,
        parent_frame: Pose::identity(),
        child_frame: Pose::identity(),
        q: 0..0,
        v: 0..0,
        q_slot: 0..0,
        v_slot: 0..0,
        alignment: Mat3::identity(),
        wants_tree: false,
        is_absent: true,
        placement: Placement::AtChild,
        fittings: Fittings::none(JointKind::Fixed),
    }))
}

/// Compiles the scene's events, and one for each threshold at which a joint breaks.
pub(super) fn build_events(
    scene: &Scene,
    names: &Bodies<'_>,
    bodies: &[Body],
    (joints, couplings): (&[Joint], &[Coupling]),
) -> Result<Vec<Event>, ModelError> {
    let mut events = Vec::new();
    for (i, event) in scene.event.iter().enumerate() {
        let builder = Builder { names, bodies, joints, couplings, path: format!("event[{i}]") };
        let trigger = builder.trigger(scene, event)?;
        events.push(Event {
            name: event.name.clone(),
            action: builder.action(scene, event)?,
            trigger,
            is_break: false,
            kind: event.kind.name(),
        });
    }
    for (j, joint) in scene.joint.iter().enumerate() {
        let Some(breaks) = &joint.breaks else { continue };
        let id = JointId(j as u32);
        let thresholds = [
            ("force", breaks.force, Quantity::Force(id)),
            ("moment", breaks.moment, Quantity::Moment(id)),
            ("impulse", breaks.impulse, Quantity::Impulse(id)),
            ("moment-impulse", breaks.moment_impulse, Quantity::MomentImpulse(id)),
        ];
        for (what, threshold, quantity) in thresholds {
            let Some(threshold) = threshold else { continue };
            events.push(Event {
                name: format!("break:{}:{what}", joint.name),
                action: Action::Release(vec![id]),
                trigger: Trigger::When(Condition { quantity, is_above: true, threshold, rearm: None }),
                is_break: true,
                kind: "break",
            });
        }
    }
    for (c, coupling) in scene.coupling.iter().enumerate() {
        let Some(breaks) = &coupling.breaks else { continue };
        let id = CouplingId(c as u32);
        let thresholds = [
            ("force", breaks.force, Quantity::CouplingForce(id)),
            ("impulse", breaks.impulse, Quantity::CouplingImpulse(id)),
        ];
        for (what, threshold, quantity) in thresholds {
            let Some(threshold) = threshold else { continue };
            events.push(Event {
                name: format!("break:{}:{what}", coupling.name),
                action: Action::Disengage(vec![id]),
                trigger: Trigger::When(Condition { quantity, is_above: true, threshold, rearm: None }),
                is_break: true,
                kind: "break",
            });
        }
    }
    Ok(events)
}

struct Builder<'a> {
    names: &'a Bodies<'a>,
    bodies: &'a [Body],
    joints: &'a [Joint],
    couplings: &'a [Coupling],
    path: String,
}

impl Builder<'_> {
    /// The validation has found everything; what is missing here was built in Rust without it.
    fn missing(&self, key: &str) -> ModelError {
        ModelError::new(format!("{}.{key}", self.path), "missing, or names nothing")
    }

    fn joint(&self, name: Option<&str>) -> Result<JointId, ModelError> {
        let found = self.joints.iter().position(|j| Some(j.name.as_str()) == name);
        found.map(|j| JointId(j as u32)).ok_or_else(|| self.missing("joint"))
    }

    fn joints(&self, event: &scene::Event) -> Result<Vec<JointId>, ModelError> {
        if event.joint.is_some() {
            return Ok(vec![self.joint(event.joint.as_deref())?]);
        }
        let patterns = event.joints.as_deref().unwrap_or_default();
        let ids = (0..self.joints.len()).filter(|&j| patterns.iter().any(|p| matches(p, &self.joints[j].name)));
        Ok(ids.map(|j| JointId(j as u32)).collect())
    }

    fn coupling(&self, name: &str) -> Result<CouplingId, ModelError> {
        let found = self.couplings.iter().position(|c| c.name == name);
        found.map(|c| CouplingId(c as u32)).ok_or_else(|| self.missing("coupling"))
    }

    fn couplings(&self, event: &scene::Event) -> Result<Vec<CouplingId>, ModelError> {
        if let Some(name) = &event.coupling {
            return Ok(vec![self.coupling(name)?]);
        }
        let patterns = event.couplings.as_deref().unwrap_or_default();
        let is_meant = |c: &usize| patterns.iter().any(|p| matches(p, &self.couplings[*c].name));
        Ok((0..self.couplings.len()).filter(is_meant).map(|c| CouplingId(c as u32)).collect())
    }

    fn body(&self, name: Option<&str>) -> Result<Option<BodyId>, ModelError> {
        name.and_then(|n| self.names.get(n)).copied().ok_or_else(|| self.missing("body"))
    }

    fn point(&self, end: Option<&Attachment>) -> Result<Point, ModelError> {
        let end = end.ok_or_else(|| self.missing("when"))?;
        Ok(Point { body: self.body(Some(&end.body))?, position: end.point.into() })
    }

    fn touching(&self, names: &[String]) -> Result<[Option<BodyId>; 2], ModelError> {
        let [a, b] = names else { return Err(self.missing("when")) };
        Ok([self.body(Some(a))?, self.body(Some(b))?])
    }

    fn trigger(&self, scene: &Scene, event: &scene::Event) -> Result<Trigger, ModelError> {
        if let Some(time) = event.time {
            return Ok(Trigger::Time(time));
        }
        if let Some(after) = &event.after {
            let other = scene.event.iter().position(|e| e.name == *after).ok_or_else(|| self.missing("after"))?;
            return Ok(Trigger::After { event: other, delay: event.delay.unwrap_or(0.0) });
        }
        let when = event.when.as_ref().ok_or_else(|| self.missing("time"))?;
        let k = when.coordinate.unwrap_or(0);
        let joint = || self.joint(when.joint.as_deref());
        let quantity = match when.kind {
            scene::Quantity::Coordinate => Quantity::Coordinate(joint()?, k),
            scene::Quantity::Speed => Quantity::Speed(joint()?, k),
            scene::Quantity::Distance => Quantity::Distance(self.point(when.a.as_ref())?, self.point(when.b.as_ref())?),
            scene::Quantity::KineticEnergy => Quantity::KineticEnergy,
            scene::Quantity::Energy => Quantity::Energy,
            scene::Quantity::Force => match &when.coupling {
                Some(name) => Quantity::CouplingForce(self.coupling(name)?),
                None => Quantity::Force(joint()?),
            },
            scene::Quantity::Moment => Quantity::Moment(joint()?),
            scene::Quantity::Drive => Quantity::Drive(joint()?, k),
            scene::Quantity::Impulse => match &when.coupling {
                Some(name) => Quantity::CouplingImpulse(self.coupling(name)?),
                None => Quantity::Impulse(joint()?),
            },
            scene::Quantity::MomentImpulse => Quantity::MomentImpulse(joint()?),
            scene::Quantity::ContactForce => Quantity::ContactForce(self.touching(&when.bodies)?),
            scene::Quantity::ContactImpulse => Quantity::ContactImpulse(self.touching(&when.bodies)?),
        };
        let threshold = when.above.or(when.below).ok_or_else(|| self.missing("when"))?;
        Ok(Trigger::When(Condition { quantity, is_above: when.above.is_some(), threshold, rearm: when.rearm }))
    }

    fn action(&self, scene: &Scene, event: &scene::Event) -> Result<Action, ModelError> {
        Ok(match event.kind {
            EventKind::Lock => {
                let what = match (event.axis, &event.coordinates) {
                    (Some(axis), _) => {
                        let axis = Vec3::from(axis).normalize();
                        Lock::Axis { body: self.body(event.body.as_deref())?, axis }
                    }
                    (None, Some(list)) => Lock::Coordinates(list.clone()),
                    (None, None) => Lock::All,
                };
                Action::Lock { joints: self.joints(event)?, what }
            }
            EventKind::Unlock => Action::Unlock(self.joints(event)?),
            EventKind::Change => {
                let kind = event.to.ok_or_else(|| self.missing("to"))?;
                let given = event.axis.is_some() || event.axis2.is_some();
                let axes = given.then(|| canonical_axes(&changed_joint(event, kind)));
                let lead = event.pitch.unwrap_or(0.0) / TAU;
                Action::Change { joint: self.joint(event.joint.as_deref())?, kind, lead, axes }
            }
            EventKind::Weld => Action::Attach(vec![self.joint(Some(&event.name))?]),
            EventKind::Attach => Action::Attach(self.joints(event)?),
            EventKind::Release if event.coupling.is_some() || event.couplings.is_some() => {
                Action::Disengage(self.couplings(event)?)
            }
            EventKind::Release => Action::Release(self.joints(event)?),
            EventKind::Engage => {
                let given = [("offset", event.offset), ("length", event.length)];
                let held = given.into_iter().filter_map(|(key, x)| Some((key, x?))).collect();
                Action::Engage { couplings: self.couplings(event)?, held }
            }
            EventKind::Switch => {
                let on = event.on.ok_or_else(|| self.missing("on"))?;
                match &event.force {
                    Some(name) => {
                        let force = scene.force.iter().position(|f| f.name() == name);
                        Action::SwitchForce { force: force.ok_or_else(|| self.missing("force"))?, on }
                    }
                    None => {
                        let joint = self.joint(event.joint.as_deref())?;
                        Action::SwitchMotor { joint, motor: event.motor.unwrap_or(0), on }
                    }
                }
            }
            EventKind::Impulse => {
                let body = self.body(event.body.as_deref())?;
                let com = body.map_or_else(Vec3::zeros, |b| self.bodies[b.index()].com);
                Action::Impulse {
                    at: Point { body, position: event.point.map_or(com, Vec3::from) },
                    vector: event.vector.unwrap_or_default().into(),
                    moment: event.moment.unwrap_or_default().into(),
                    axes: event.axes.unwrap_or_default(),
                }
            }
        })
    }
}
