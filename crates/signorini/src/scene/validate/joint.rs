//! Joints and what acts in them.

use super::Check;
use super::numbers::Range;
use crate::scene::direction::{unit, unit_quaternion};
use crate::scene::{Event, EventKind, FindingKind, FrameRef, GROUND, Joint, JointKind, Motor, PerCoordinate};
use std::collections::HashSet;
use std::fmt::Arguments;

/// Largest cosine between two axes that count as perpendicular: directions are often written with six digits.
const PERPENDICULAR: f64 = 1e-5;

impl<'a> Check<'a> {
    /// Every `[[joint]]`.
    pub(super) fn joints(&mut self) {
        let mut seen = HashSet::new();
        for (i, joint) in self.scene.joint.iter().enumerate() {
            self.subject = Some(("joint", &joint.name));
            let at = format_args!("joint[{i}]");
            self.name(at, &joint.name, &mut seen);
            self.ends(at, joint);
            self.axes(at, joint);
            self.start(at, joint);
            self.passive(at, joint);
            self.motors(at, joint);
            self.limits(at, joint);
            self.dry_friction(at, joint);
            self.breaks(at, joint);
        }
        self.subject = None;
    }

    fn breaks(&mut self, at: Arguments<'_>, joint: &Joint) {
        let Some(breaks) = &joint.breaks else { return };
        let given = [
            ("force", breaks.force),
            ("moment", breaks.moment),
            ("impulse", breaks.impulse),
            ("moment_impulse", breaks.moment_impulse),
        ];
        for (key, value) in given {
            if let Some(value) = value {
                self.number(format_args!("{at}.break.{key}"), value, Range::Positive);
            }
        }
        if given.iter().all(|(_, value)| value.is_none()) {
            self.add_with(FindingKind::Missing, format_args!("{at}.break"), "a break needs a threshold", |f| {
                f.found("nothing").allowed("`force`, `moment`, `impulse` or `moment_impulse`")
            });
        }
    }

    fn ends(&mut self, at: Arguments<'_>, joint: &'a Joint) {
        self.body_name(format_args!("{at}.parent"), &joint.parent, true);
        self.body_name(format_args!("{at}.child"), &joint.child, true);
        if joint.parent == joint.child {
            self.add_with(
                FindingKind::SameBody,
                format_args!("{at}.child"),
                "a joint connects two different bodies",
                |f| f.found(format!("`{}` twice", joint.child)),
            );
        }
        for (key, body, frame) in
            [("parent_frame", &joint.parent, &joint.parent_frame), ("child_frame", &joint.child, &joint.child_frame)]
        {
            let at = format_args!("{at}.{key}");
            match frame {
                None => continue,
                Some(FrameRef::Name(name)) => self.frame_name(at, body, name),
                Some(FrameRef::Pose { position, orientation }) => {
                    self.numbers(format_args!("{at}.position"), position, Range::Finite);
                    self.orientation(format_args!("{at}.orientation"), *orientation);
                }
            }
            if joint.anchor.is_some() {
                self.add(FindingKind::Misplaced, at, "either an anchor or joint frames, not both");
            }
        }
        self.numbers(format_args!("{at}.anchor"), &joint.anchor.unwrap_or_default(), Range::Finite);
    }

    fn frame_name(&mut self, at: Arguments<'_>, body: &str, name: &str) {
        // A body that does not exist is a finding of its own.
        let is_body = body == GROUND || self.bodies.contains_key(body);
        if is_body && !self.frames.contains(&(body, name)) && !self.is_full() {
            let frames = self.bodies.get(body).map(|body| body.frame.as_slice());
            let names = frames.unwrap_or_default().iter().map(|frame| frame.name.as_str());
            let names: Vec<&str> = names.collect();
            self.unknown_name(at, &format!("frame of body `{body}`"), name, &names);
        }
    }

    pub(super) fn axes(&mut self, at: Arguments<'_>, joint: &Joint) {
        let kind = joint.kind;
        self.belongs(at, "axis", joint.axis.is_some(), kind.has_axis(), kind);
        self.belongs(at, "axis2", joint.axis2.is_some(), kind.has_axis2(), kind);
        self.belongs(at, "pitch", joint.pitch.is_some(), kind == JointKind::Screw, kind);
        let first = joint.axis.is_none_or(|axis| self.axis(format_args!("{at}.axis"), axis));
        let second = joint.axis2.is_none_or(|axis| self.axis(format_args!("{at}.axis2"), axis));
        if kind == JointKind::Universal && joint.axis.is_some() != joint.axis2.is_some() {
            let missing = if joint.axis.is_some() { "axis2" } else { "axis" };
            let message = "a universal joint is given both axes or none";
            self.add(FindingKind::Missing, format_args!("{at}.{missing}"), message);
        } else if let (true, true, Some(axis2)) = (first && second, kind.has_axis2(), joint.axis2.and_then(unit)) {
            let cosine = joint.axes().0.dot(&axis2);
            if cosine.abs() > PERPENDICULAR {
                let message = "the second axis must be perpendicular to the first";
                self.add_with(FindingKind::Axis, format_args!("{at}.axis2"), message, |f| {
                    f.found(format!("a cosine of {cosine}")).allowed(format!("at most {PERPENDICULAR}"))
                });
            }
        }
        match joint.pitch {
            Some(pitch) => {
                self.number(format_args!("{at}.pitch"), pitch, Range::Finite);
            }
            None if kind == JointKind::Screw => {
                self.add_with(FindingKind::Missing, format_args!("{at}.pitch"), "a screw joint needs its pitch", |f| {
                    f.found("nothing").allowed("the advance per full turn")
                });
            }
            None => {}
        }
    }

    fn belongs(&mut self, at: Arguments<'_>, key: &str, is_given: bool, belongs: bool, kind: JointKind) {
        if is_given && !belongs {
            let message = format!("this key does not belong to a {} joint", kind.name());
            self.add(FindingKind::Misplaced, format_args!("{at}.{key}"), &message);
        }
    }

    fn start(&mut self, at: Arguments<'_>, joint: &Joint) {
        if let Some(q) = &joint.q {
            self.coordinates(format_args!("{at}.q"), q, joint.kind);
        }
        if let Some(v) = &joint.v {
            let why = format!("speeds of a {} joint", joint.kind.name());
            self.length(format_args!("{at}.v"), v.len(), joint.kind.n_v(), &why);
            self.numbers(format_args!("{at}.v"), v, Range::Finite);
        }
    }

    fn coordinates(&mut self, at: Arguments<'_>, q: &[f64], kind: JointKind) {
        let why = format!("coordinates of a {} joint", kind.name());
        let is_right = self.length(at, q.len(), kind.n_q(), &why) & self.numbers(at, q, Range::Finite);
        let quaternion = kind.quaternion_at().and_then(|start| q.get(start..start + 4)?.try_into().ok());
        if let (true, Some(quaternion)) = (is_right, quaternion)
            && unit_quaternion(quaternion).is_none()
        {
            self.add_with(FindingKind::Quaternion, at, "a quaternion of length zero is no rotation", |f| {
                f.found(format!("{quaternion:?}")).allowed("w x y z, not all zero; any length will do")
            });
        }
    }

    fn passive(&mut self, at: Arguments<'_>, joint: &Joint) {
        let kind = joint.kind;
        if let Some(spring) = &joint.spring {
            self.per_speed(format_args!("{at}.spring.stiffness"), &spring.stiffness, kind);
            if let Some(rest) = &spring.rest {
                self.coordinates(format_args!("{at}.spring.rest"), rest, kind);
            }
        }
        for (key, value) in [("damping", &joint.damping), ("armature", &joint.armature)] {
            if let Some(value) = value {
                self.per_speed(format_args!("{at}.{key}"), value, kind);
            }
        }
    }

    fn per_speed(&mut self, at: Arguments<'_>, value: &PerCoordinate, kind: JointKind) {
        if kind == JointKind::Fixed {
            return self.add(FindingKind::Misplaced, at, "a fixed joint has no coordinate on which this could act");
        }
        match value {
            PerCoordinate::All(value) => {
                self.number(at, *value, Range::NotNegative);
            }
            PerCoordinate::Each(values) => {
                let why = format!("speeds of a {} joint; or one number for all", kind.name());
                self.length(at, values.len(), kind.n_v(), &why);
                self.numbers(at, values, Range::NotNegative);
            }
        }
    }

    fn limits(&mut self, at: Arguments<'_>, joint: &Joint) {
        let kind = joint.kind;
        let sides = [("lower", &joint.lower, f64::NEG_INFINITY), ("upper", &joint.upper, f64::INFINITY)];
        let mut limits: [Option<Vec<f64>>; 2] = [None, None];
        for ((key, value, none), limits) in sides.into_iter().zip(&mut limits) {
            let (at, Some(value)) = (format_args!("{at}.{key}"), value) else { continue };
            if kind == JointKind::Fixed {
                self.add(FindingKind::Misplaced, at, "a fixed joint has no coordinate on which this could act");
                continue;
            }
            let values = match value {
                PerCoordinate::All(value) => vec![*value; kind.n_v()],
                PerCoordinate::Each(values) => {
                    let why = format!("speeds of a {} joint; or one number for all", kind.name());
                    if !self.length(at, values.len(), kind.n_v(), &why) {
                        continue;
                    }
                    values.clone()
                }
            };
            let is_list = matches!(value, PerCoordinate::Each(_));
            let bad = values.iter().enumerate().find(|(_, x)| !(x.is_finite() || **x == none));
            if let Some((k, value)) = bad {
                let place = if is_list { format!("{at}[{k}]") } else { at.to_string() };
                let allowed = format!("a finite number, or `{none}` for no limit");
                self.add_with(FindingKind::NotFinite, format_args!("{place}"), "this is no limit", |f| {
                    f.found(value.to_string()).allowed(allowed)
                });
                continue;
            }
            if kind.quaternion_at().is_some_and(|start| values[start..].iter().any(|x| x.is_finite())) {
                self.add_with(FindingKind::Misplaced, at, "a rotation by quaternion has no coordinate to limit", |f| {
                    f.found(format!("{value:?}")).allowed(match kind {
                        JointKind::Free => "three limits, then three times `inf` (`-inf`)",
                        _ => "no limits; or another joint kind",
                    })
                });
                continue;
            }
            self.not_prescribed(at, joint, value, |x| x.is_finite());
            *limits = Some(values);
        }
        if let [Some(lower), Some(upper)] = &limits
            && let Some((a, b)) = lower.iter().zip(upper).find(|(a, b)| a > b)
        {
            let message = "the lower limit is above the upper one";
            self.add_with(FindingKind::Contradiction, format_args!("{at}.lower"), message, |f| {
                f.found(format!("{a} to {b}")).allowed("at most the upper limit")
            });
        }
        if joint.restitution.is_some() {
            self.surface(at, (None, None), joint.restitution);
            if joint.lower.is_none() && joint.upper.is_none() {
                let message = "restitution of a joint is that of its limits, and it has none";
                self.add_with(FindingKind::Misplaced, format_args!("{at}.restitution"), message, |f| {
                    f.allowed("with `lower` or `upper`")
                });
            }
        }
    }

    fn dry_friction(&mut self, at: Arguments<'_>, joint: &Joint) {
        for (key, value) in [("friction", &joint.friction), ("friction_load", &joint.friction_load)] {
            if let Some(value) = value {
                self.per_speed(format_args!("{at}.{key}"), value, joint.kind);
                self.not_prescribed(format_args!("{at}.{key}"), joint, value, |x| x != 0.0);
            }
        }
    }

    /// A coordinate that follows a motion takes no notice of limits and friction, unless an event may switch the motion off.
    fn not_prescribed(&mut self, at: Arguments<'_>, joint: &Joint, value: &PerCoordinate, acts: impl Fn(f64) -> bool) {
        let is_switched = |e: &Event| e.kind == EventKind::Switch && e.joint.as_deref() == Some(&joint.name);
        if self.scene.event.iter().any(is_switched) {
            return;
        }
        let is_moved =
            |k: usize| joint.motor.iter().any(|m| matches!(m, Motor::Motion { coordinate, .. } if *coordinate == k));
        let n = joint.kind.n_v();
        let is_idle = match value {
            PerCoordinate::All(_) => n > 0 && (0..n).all(is_moved),
            PerCoordinate::Each(values) => values.iter().enumerate().any(|(k, x)| acts(*x) && is_moved(k)),
        };
        if is_idle {
            let message = "the coordinate follows a motion, whatever force that takes: this would not act";
            self.add(FindingKind::Contradiction, at, message);
        }
    }

    fn motors(&mut self, at: Arguments<'_>, joint: &Joint) {
        let kind = joint.kind;
        let mut moved = HashSet::new();
        for (j, motor) in joint.motor.iter().enumerate() {
            let at = format_args!("{at}.motor[{j}]");
            let (coordinate, needs_coordinate) = match motor {
                Motor::Torque { coordinate, value } => {
                    self.signal(format_args!("{at}.value"), value, false);
                    (*coordinate, false)
                }
                Motor::Servo { coordinate, target, stiffness, damping, limit, .. } => {
                    self.signal(format_args!("{at}.target"), target, false);
                    self.number(format_args!("{at}.stiffness"), *stiffness, Range::NotNegative);
                    self.number(format_args!("{at}.damping"), *damping, Range::NotNegative);
                    limit.map(|limit| self.number(format_args!("{at}.limit"), limit, Range::Positive));
                    (*coordinate, true)
                }
                Motor::Velocity { coordinate, target, damping, limit, .. } => {
                    self.signal(format_args!("{at}.target"), target, false);
                    self.number(format_args!("{at}.damping"), *damping, Range::NotNegative);
                    limit.map(|limit| self.number(format_args!("{at}.limit"), limit, Range::Positive));
                    (*coordinate, false)
                }
                Motor::Motion { coordinate, position } => {
                    self.signal(format_args!("{at}.position"), position, true);
                    if !moved.insert(*coordinate) {
                        let message = "the coordinate already follows another motion";
                        self.add(FindingKind::Motor, format_args!("{at}.coordinate"), message);
                    }
                    (*coordinate, true)
                }
            };
            let at = format_args!("{at}.coordinate");
            if coordinate >= kind.n_v() {
                self.add_with(FindingKind::Motor, at, "the joint has no such coordinate", |f| {
                    let allowed = match kind.n_v() {
                        0 => "no motor: a fixed joint does not move".to_owned(),
                        1 => "0".to_owned(),
                        n => format!("0 to {}", n - 1),
                    };
                    f.found(coordinate.to_string()).allowed(allowed)
                });
            } else if needs_coordinate && kind.quaternion_at().is_some_and(|start| coordinate >= start) {
                let message = "a rotation by quaternion has no single coordinate that could follow a target";
                self.add_with(FindingKind::Motor, at, message, |f| {
                    f.found(coordinate.to_string()).allowed("a torque motor; or another joint kind")
                });
            }
        }
    }
}
