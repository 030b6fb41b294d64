//! Laws between surfaces, from a scene.

use super::build_contact::materials_by_name;
use super::contact::{PairRule, Rules, Shape, ordered};
use super::event::{Action, Event};
use super::laws::PairLaws;
use super::{BodyId, Form, Joint, ModelError};
use crate::contact::cone::{Polygon, Polyhedron};
use crate::contact::law::{Frame, Friction, PairLaw, Surface};
use crate::scene::{self, FrictionFrame, FrictionSection, Scene};
use crate::spatial::Vec3;
use std::collections::HashMap;

/// Which bodies may meet.
pub(super) struct Meet<'a> {
    pub rules: &'a Rules,
    pub joints: &'a [Joint],
    pub events: &'a [Event],
}

impl Meet<'_> {
    /// Whether two bodies may touch at some time of the run.
    fn may(&self, a: Option<BodyId>, b: Option<BodyId>) -> bool {
        let holds = |j: &Joint| (j.parent, j.child) == (a, b) || (j.parent, j.child) == (b, a);
        let is_freed = |j: usize| {
            let frees =
                |e: &Event| matches!(&e.action, Action::Release(joints) if joints.iter().any(|id| id.index() == j));
            self.events.iter().any(frees)
        };
        let is_held = || self.joints.iter().enumerate().any(|(j, joint)| holds(joint) && !is_freed(j));
        a != b && self.rules.is_enabled(a, b).unwrap_or_else(|| !is_held())
    }
}

/// What materials and rules say, in the scene's order.
pub(super) struct Said {
    materials: Vec<Surface>,
    pub rules: Vec<PairRule>,
}

impl Said {
    pub fn build(scene: &Scene, bodies: &Names<'_>) -> Result<Self, ModelError> {
        let mut said = Self { materials: Vec::new(), rules: Vec::new() };
        for (i, m) in scene.material.iter().enumerate() {
            let friction = (m.friction.as_ref(), m.friction_frame.as_ref());
            said.materials.push(surface(bodies, friction, m.restitution, &format!("material[{i}]"))?);
        }
        for (i, rule) in scene.contact.iter().enumerate() {
            let friction = (rule.friction.as_ref(), rule.friction_frame.as_ref());
            let law = surface(bodies, friction, rule.restitution, &format!("contact[{i}]"))?;
            said.rules.push(PairRule { is_enabled: rule.enabled, law });
        }
        Ok(said)
    }
}

/// Bodies by name; the ground is none.
type Names<'a> = HashMap<&'a str, Option<BodyId>>;

/// What a material or a rule says of surfaces.
fn surface(
    bodies: &Names<'_>,
    (friction, frame): (Option<&scene::Friction>, Option<&FrictionFrame>),
    restitution: Option<f64>,
    at: &str,
) -> Result<Surface, ModelError> {
    let friction = friction.map(law_of);
    if let Some((value, allowed)) = friction.as_ref().and_then(|f| f.cone().find_fault()) {
        return Err(ModelError::new(format!("{at}.friction"), format!("found {value}, allowed are {allowed}")));
    }
    let frame = frame.map(|frame| {
        let path = format!("{at}.friction_frame.body");
        let unknown = || ModelError::new(path, format!("there is no body `{}`", frame.body));
        let body = bodies.get(frame.body.as_str()).ok_or_else(unknown)?;
        let axis = Vec3::from(frame.direction).normalize();
        Ok(Frame { body: body.map(|b| b.0), axis: axis.into() })
    });
    Ok(Surface { friction, frame: frame.transpose()?, restitution })
}

/// Friction as the contact problem has it.
fn law_of(friction: &scene::Friction) -> Friction {
    let section: &FrictionSection = match friction {
        scene::Friction::Coefficient(mu) => return Friction::Disc { mu: *mu },
        scene::Friction::Ellipse(mu) => return Friction::Ellipse { mu: *mu },
        scene::Friction::Section(section) => section,
    };
    let mu = section.mu.unwrap_or(1.0);
    if !section.directions.is_empty() {
        return Friction::Polygon(Polygon::hull(&section.directions));
    }
    match (section.polygon, section.ellipsoid, section.mixed, section.rolling) {
        (_, Some(e), ..) => Friction::Ellipsoid { mu, e },
        (_, _, Some(e), _) => Friction::Mixed { mu, e },
        (.., Some(arm)) => Friction::Rolling { mu, arm },
        // Nothing is within a section of no extent, whatever its sides.
        _ if mu == 0.0 => Friction::default(),
        (Some(n), ..) => Friction::Polygon(Polygon::regular(mu, n as usize)),
        _ => {
            let rows = section.polyhedron.iter().map(|row| row.map(|a| a / mu)).collect();
            Friction::Polyhedron(Polyhedron::new(rows))
        }
    }
}

/// Numbers the surfaces of all shapes, and finds the law of every two of them.
pub(super) fn build_laws(
    scene: &Scene,
    said: &Said,
    (shapes, materials): (&mut [Shape], &[Option<u32>]),
    meet: &Meet<'_>,
) -> Result<PairLaws, ModelError> {
    // A surface is a class of bodies and a material.
    let mut numbers: HashMap<(u32, Option<u32>), u32> = HashMap::new();
    let mut surfaces = Vec::new();
    for (shape, material) in shapes.iter_mut().zip(materials) {
        let key = (meet.rules.class(shape.body), *material);
        shape.surface = *numbers.entry(key).or_insert_with(|| {
            surfaces.push(key);
            surfaces.len() as u32 - 1
        });
    }
    let own = &said.materials;
    let of_materials = material_rules(scene, &said.rules);
    let silent = (Surface::default(), PairRule::default());
    let law = |a: u32, b: u32| {
        let [(class_a, a), (class_b, b)] = [a, b].map(|s| surfaces[s as usize]);
        let of_pair = a.zip(b).and_then(|(a, b)| of_materials.get(&ordered(a, b))).unwrap_or(&silent.1);
        let of_pair = of_pair.law.then(&meet.rules.of_classes(class_a, class_b).unwrap_or(&silent.1).law);
        of_pair.pair([a, b].map(|m| m.and_then(|m| own.get(m as usize)).unwrap_or(&silent.0)))
    };
    // Nobody asks for the law of surfaces that never meet.
    let refused = |a: u32, b: u32| match meeting(shapes, [a, b], meet) {
        None => Ok(PairLaw::default()),
        Some(pair) => Err(must_be_said(scene, pair.map(|i| (shapes[i].body, materials[i])))),
    };
    PairLaws::build(surfaces.len() as u32, law, refused)
}

/// Rules for materials.
fn material_rules(scene: &Scene, said: &[PairRule]) -> HashMap<(u32, u32), PairRule> {
    let named = materials_by_name(scene);
    let mut rules = HashMap::new();
    for (rule, said) in scene.contact.iter().zip(said) {
        if let [a, b] = &rule.materials[..]
            && let (Some(&a), Some(&b)) = (named.get(a.as_str()), named.get(b.as_str()))
        {
            Rules::add(&mut rules, a, b, said);
        }
    }
    rules
}

/// Two shapes with these surfaces that may meet.
fn meeting(shapes: &[Shape], [a, b]: [u32; 2], meet: &Meet<'_>) -> Option<[usize; 2]> {
    let of = |surface: u32| shapes.iter().enumerate().filter(move |(_, s)| s.surface == surface);
    let is_point = |s: &Shape| matches!(s.form, Form::Point);
    of(a).find_map(|(i, x)| {
        let touches = |y: &Shape| !(is_point(x) && is_point(y)) && meet.may(x.body, y.body);
        of(b).find(|(_, y)| touches(y)).map(|(j, _)| [i, j])
    })
}

/// The error about two surfaces whose friction has no mean.
fn must_be_said(scene: &Scene, pair: [(Option<BodyId>, Option<u32>); 2]) -> ModelError {
    let bodies: Vec<&str> = scene.body.iter().map(|b| b.name.as_str()).filter(|n| *n != crate::scene::GROUND).collect();
    let [a, b] = pair.map(|(body, material)| {
        let material = material.and_then(|m| scene.material.get(m as usize)).map_or("", |m| m.name.as_str());
        let body = body.and_then(|b| bodies.get(b.index()).copied()).unwrap_or(crate::scene::GROUND);
        format!("material `{material}` of `{body}`")
    });
    let place = pair[1].1.map_or_else(|| "contact".to_owned(), |m| format!("material[{m}].friction"));
    ModelError::new(place, format!("friction of {a} and {b} has no mean: say it in a `[[contact]]` rule for the two"))
}
