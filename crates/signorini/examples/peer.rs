//! The native side of `cases/other_engines/peer_signorini.py`.
//!
//! Reads one scene in the harness's own JSON (see `cases/other_engines/scenes.py`), builds it, times forward dynamics at its
//! initial state and prints one line of JSON: microseconds per evaluation, accelerations in the order of the scene.
//!
//!     cargo run --release --example peer -- T1_chain10.json

use cpu_time::ProcessTime;
use serde::Deserialize;
use signorini::dynamics::recursive::{Recursion, Tree};
use signorini::model::Model;
use signorini::plan::Plan;
use signorini::scene::{self, FrameRef, GROUND, Joint, JointKind, Scene};
use signorini::spatial::{Mat3, Vec3};
use std::error::Error;

/// A scene of the harness. Keys that forward dynamics does not need (geometry, friction, step) are left unread.
#[derive(Deserialize)]
struct PeerScene {
    name: String,
    bodies: Vec<PeerBody>,
    gravity: [f64; 3],
}

/// A body; at zero coordinates its frame is parallel to the world and sits on its joint.
#[derive(Deserialize)]
struct PeerBody {
    name: String,
    parent: i64,
    joint: String,
    mass: f64,
    inertia: [f64; 3],
    com: [f64; 3],
    axis: [f64; 3],
    anchor: [f64; 3],
    q0: Coordinates,
    v0: Coordinates,
}

/// One number for a hinge; position and quaternion, or world velocity at the origin and world spin, for a free body.
#[derive(Deserialize)]
#[serde(untagged)]
enum Coordinates {
    One(f64),
    Many(Vec<f64>),
}

impl Coordinates {
    fn to_vec(&self) -> Vec<f64> {
        match self {
            Self::One(x) => vec![*x],
            Self::Many(x) => x.clone(),
        }
    }
}

/// Rotation matrix of a quaternion w x y z.
fn rotation(q: &[f64]) -> Mat3 {
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

/// The same mechanism as one of this engine's scenes; joint `i` carries body `i`.
fn convert(peer: &PeerScene) -> Result<Scene, Box<dyn Error>> {
    let mut scene = Scene { title: Some(peer.name.clone()), gravity: peer.gravity, ..Default::default() };
    scene.time.end = 1.0;
    for body in &peer.bodies {
        scene.body.push(scene::Body {
            name: body.name.clone(),
            mass: Some(body.mass),
            com: Some(body.com),
            inertia: Some(body.inertia.to_vec()),
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
    Ok(scene)
}

/// Best CPU time of one call of `evaluate`, in microseconds: the protocol of `common.py` (`auto_best`).
fn best_microseconds(mut evaluate: impl FnMut()) -> f64 {
    let mut batch = |n: u32| {
        let start = ProcessTime::now();
        for _ in 0..n {
            evaluate();
        }
        start.elapsed().as_secs_f64() / f64::from(n)
    };
    batch(1);
    let one = batch(2).max(1e-7);
    let n = ((0.06 / one) as u32).clamp(1, 200_000);
    let batches = if one < 1.0 { 15 } else { 2 };
    (0..batches).map(|_| batch(n)).fold(f64::INFINITY, f64::min) * 1e6
}

/// What was measured on one scene.
struct Measured {
    /// CPU time of one evaluation.
    microseconds: f64,
    /// Accelerations of each joint, in the scene's order.
    accelerations: Vec<Vec<f64>>,
}

/// Times forward dynamics of a scene at its initial state.
fn time_forward_dynamics(scene: &Scene) -> Result<Measured, Box<dyn Error>> {
    let model = Model::build(scene)?;
    let plan = Plan::build(&model, &|_| false);
    let tree = Tree::build(&model, &plan);
    let links: Option<Vec<usize>> = plan.link_of_joint.iter().copied().collect();
    let links = links.ok_or("the scene has a closed loop")?;
    let (mut q, mut v) = (vec![0.0; tree.n_q], vec![0.0; tree.n_v]);
    for (joint, &link) in scene.joint.iter().zip(&links) {
        if plan.links[link].reversed {
            return Err(format!("{} is reversed in the tree", joint.name).into());
        }
        q[tree.links[link].q_range()].copy_from_slice(joint.q.as_deref().unwrap_or_default());
        v[tree.links[link].v_range()].copy_from_slice(joint.v.as_deref().unwrap_or_default());
    }
    let tau = vec![0.0; tree.n_v];
    let mut acceleration = vec![0.0; tree.n_v];
    let gravity = model.gravity();
    let mut recursion = Recursion::new(&tree);
    let microseconds = best_microseconds(|| {
        recursion.forward_dynamics(&tree, &gravity, &q, &v, &tau, &mut acceleration);
        std::hint::black_box(&mut acceleration);
    });
    let of_joint = |&link: &usize| acceleration[tree.links[link].v_range()].to_vec();
    Ok(Measured { microseconds, accelerations: links.iter().map(of_joint).collect() })
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: peer SCENE.json")?;
    let peer: PeerScene = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let scene = convert(&peer)?;
    let Measured { microseconds, mut accelerations } = time_forward_dynamics(&scene)?;
    for (body, a) in peer.bodies.iter().zip(&mut accelerations) {
        if body.joint == "free" {
            let spin = rotation(&body.q0.to_vec()[3..]) * Vec3::new(a[3], a[4], a[5]);
            a[3..].copy_from_slice(spin.as_slice());
        }
    }
    let qdd: Vec<f64> = accelerations.into_iter().flatten().collect();
    println!("{}", serde_json::json!({ "us": microseconds, "qdd": qdd, "version": env!("CARGO_PKG_VERSION") }));
    Ok(())
}
