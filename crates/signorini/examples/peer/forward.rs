//! Forward dynamics (part T1 of the harness).

use crate::scene::{PeerScene, convert, rotation};
use cpu_time::ProcessTime;
use signorini::dynamics::recursive::Recursion;
use signorini::dynamics::tree::{Kinematics, Tree};
use signorini::model::Model;
use signorini::plan::Plan;
use signorini::scene::Scene;
use signorini::spatial::{Twist, Vec3};
use std::error::Error;

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
    let (mut kinematics, mut recursion) = (Kinematics::new(&tree), Recursion::new(&tree));
    let mut origins = vec![Twist::default(); tree.links.len()];
    let microseconds = best_microseconds(|| {
        kinematics.update(&tree, &q, &v);
        recursion.update_articulated(&tree, &kinematics, &tau, &[], None);
        recursion.update_accelerations(&tree, &kinematics, &gravity, &[], &mut acceleration, &mut origins);
        std::hint::black_box(&mut acceleration);
    });
    let of_joint = |&link: &usize| acceleration[tree.links[link].v_range()].to_vec();
    Ok(Measured { microseconds, accelerations: links.iter().map(of_joint).collect() })
}

/// Times a scene and prints one line of JSON: microseconds per evaluation, accelerations in the order of the scene.
pub fn run(peer: &PeerScene) -> Result<(), Box<dyn Error>> {
    let Measured { microseconds, mut accelerations } = time_forward_dynamics(&convert(peer)?)?;
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
