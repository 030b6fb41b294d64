//! The harness's scenes, and the same as scenes of this engine.

use serde::Deserialize;
use signorini::scene::{self, ContactRule, FrameRef, GROUND, Geometry, Joint, JointKind, Material, Scene, Shape};
use signorini::spatial::{Mat3, Vec3};
use std::error::Error;

/// A scene of the harness (`Scene` in `cases/other_engines/scenes.py`).
#[derive(Deserialize)]
pub struct PeerScene {
    pub name: String,
    pub bodies: Vec<PeerBody>,
    pub gravity: [f64; 3],
    pub plane: bool,
    /// Static boxes: centre and half extents.
    pub walls: Vec<[[f64; 3]; 2]>,
    pub mu: f64,
    pub e: f64,
    pub h: f64,
    /// Points that coincide: body and point, twice.
    pub loops: Vec<(usize, [f64; 3], usize, [f64; 3])>,
    /// Whether bodies touch each other, not only the ground.
    pub body_body: bool,
}

/// A body; at zero coordinates its frame is parallel to the world and sits on its joint.
#[derive(Deserialize)]
pub struct PeerBody {
    pub name: String,
    pub parent: i64,
    pub joint: String,
    pub mass: f64,
    pub inertia: [f64; 3],
    pub com: [f64; 3],
    pub axis: [f64; 3],
    pub anchor: [f64; 3],
    pub geoms: Vec<PeerGeom>,
    pub q0: Coordinates,
    pub v0: Coordinates,
}

/// A shape in the body frame: half extents of a box, or a radius.
#[derive(Deserialize)]
pub struct PeerGeom {
    pub kind: String,
    pub size: Vec<f64>,
    pub pos: [f64; 3],
}

/// One number for a hinge; position and quaternion, or world velocity at the origin and world spin, for a free body.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum Coordinates {
    One(f64),
    Many(Vec<f64>),
}

impl Coordinates {
    pub fn to_vec(&self) -> Vec<f64> {
        match self {
            Self::One(x) => vec![*x],
            Self::Many(x) => x.clone(),
        }
    }
}

/// Rotation matrix of a quaternion w x y z.
pub fn rotation(q: &[f64]) -> Mat3 {
    let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    let [w, x, y, z] = [q[0] / norm, q[1] / norm, q[2] / norm, q[3] / norm];
    Mat3::new(
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    )
}

impl PeerBody {
    /// Initial coordinates and speeds in this engine's convention: unit quaternions, and a free joint's spin in body axes.
    fn coordinates(&self) -> (Vec<f64>, Vec<f64>) {
        let (mut q, mut v) = (self.q0.to_vec(), self.v0.to_vec());
        if self.joint == "free" {
            v.resize(6, 0.0);
            let norm = q[3..].iter().map(|x| x * x).sum::<f64>().sqrt();
            q[3..].iter_mut().for_each(|x| *x /= norm);
            let spin = rotation(&q[3..]).transpose() * Vec3::new(v[3], v[4], v[5]);
            v[3..].copy_from_slice(spin.as_slice());
        }
        (q, v)
    }
}

/// The one material of a scene; equal friction on both sides mixes to itself.
const SURFACE: &str = "surface";

/// The group of everything that moves.
const MOVING: &str = "moving";

fn shape(geometry: Geometry, position: [f64; 3]) -> Shape {
    let material = Some(SURFACE.to_owned());
    Shape { geometry, position, orientation: None, density: None, material, surface_velocity: None }
}

fn shape_of(geom: &PeerGeom) -> Result<Shape, Box<dyn Error>> {
    let geometry = match (geom.kind.as_str(), geom.size.as_slice()) {
        ("sphere", &[radius]) => Geometry::Sphere { radius },
        ("box", &[x, y, z]) => Geometry::Box { size: [2.0 * x, 2.0 * y, 2.0 * z] },
        (other, size) => return Err(format!("shape {other} with {} sizes is not known", size.len()).into()),
    };
    Ok(shape(geometry, geom.pos))
}

/// The same mechanism as one of this engine's scenes; joint `i` carries body `i`, joints behind them close loops.
pub fn convert(peer: &PeerScene) -> Result<Scene, Box<dyn Error>> {
    let mut scene = Scene { title: Some(peer.name.clone()), gravity: peer.gravity, ..Default::default() };
    scene.time.end = 1.0;
    for body in &peer.bodies {
        scene.body.push(scene::Body {
            name: body.name.clone(),
            mass: Some(body.mass),
            com: Some(body.com),
            inertia: Some(body.inertia.to_vec()),
            shape: body.geoms.iter().map(shape_of).collect::<Result<_, _>>()?,
            group: Some(MOVING.to_owned()),
            ..Default::default()
        });
        let parent = usize::try_from(body.parent).ok().map(|p| peer.bodies[p].name.clone());
        let (q, v) = body.coordinates();
        let mut joint = Joint {
            name: format!("to_{}", body.name),
            parent: parent.unwrap_or_else(|| GROUND.to_owned()),
            child: body.name.clone(),
            q: Some(q),
            v: Some(v),
            ..Default::default()
        };
        match body.joint.as_str() {
            "rev" => {
                joint.kind = JointKind::Revolute;
                joint.parent_frame = Some(FrameRef::Pose { position: body.anchor, orientation: None });
                joint.axis = Some(body.axis);
            }
            "free" => joint.kind = JointKind::Free,
            other => return Err(format!("joint kind {other} is not known").into()),
        }
        scene.joint.push(joint);
    }
    let at = |position: [f64; 3]| Some(FrameRef::Pose { position, orientation: None });
    for (i, (a, on_a, b, on_b)) in peer.loops.iter().enumerate() {
        scene.joint.push(Joint {
            name: format!("loop{i}"),
            kind: JointKind::Spherical,
            parent: peer.bodies[*a].name.clone(),
            child: peer.bodies[*b].name.clone(),
            parent_frame: at(*on_a),
            child_frame: at(*on_b),
            ..Default::default()
        });
    }
    add_ground(peer, &mut scene);
    Ok(scene)
}

/// What stands still, and who touches whom.
fn add_ground(peer: &PeerScene, scene: &mut Scene) {
    let mut ground = Vec::new();
    if peer.plane {
        ground.push(shape(Geometry::HalfSpace, [0.0; 3]));
    }
    for [centre, half] in &peer.walls {
        ground.push(shape(Geometry::Box { size: half.map(|x| 2.0 * x) }, *centre));
    }
    if ground.is_empty() {
        return;
    }
    scene.body.push(scene::Body { name: GROUND.to_owned(), shape: ground, ..Default::default() });
    let (friction, restitution) = (Some(peer.mu.into()), Some(peer.e));
    scene.material.push(Material { name: SURFACE.to_owned(), friction, restitution, ..Default::default() });
    let two = |a: &str, b: &str| vec![a.to_owned(), b.to_owned()];
    if !peer.body_body {
        let groups = two(MOVING, MOVING);
        scene.contact.push(ContactRule { groups, enabled: Some(false), ..Default::default() });
    }
    // Free joints tie roots to the ground in name only.
    let bodies = two(GROUND, "*");
    scene.contact.push(ContactRule { bodies, enabled: Some(true), ..Default::default() });
}
