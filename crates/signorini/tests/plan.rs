//! Spanning trees: every body once, parents first, loops cut where it costs least.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::*;
use proptest::prelude::*;
use signorini::model::Model;
use signorini::plan::Plan;
use signorini::scene::*;

fn plan(scene: &Scene) -> (Model, Plan) {
    let model = Model::build(scene).unwrap();
    let plan = Plan::build(&model, &|_| false);
    (model, plan)
}

/// A ring of `n` bodies hung from the ground at one point: n + 1 revolute joints.
fn ring(n: usize) -> Scene {
    let mut scene = chain(n);
    let mut closing = scene.joint[0].clone();
    (closing.name, closing.parent, closing.child) = ("closing".into(), format!("l{}", n - 1), "l0".into());
    scene.joint.push(closing);
    scene
}

proptest! {
    #[test]
    fn every_body_once_and_parents_first(seed: u64, n in 1usize..30, branching in 0.0..1.0f64, extra in 0usize..5) {
        let mut rng = Rng(seed);
        let none = Extras { fittings: false, motions: false };
        let mut scene = random_tree(&mut rng, n, branching, &KINDS, none);
        for l in 0..extra {
            let (a, b) = (format!("b{}", rng.below(n)), format!("b{}", rng.below(n)));
            if a != b {
                scene.joint.push(random_joint(&mut rng, format!("x{l}"), JointKind::Revolute, (a, b), none));
            }
        }
        // Positions and velocities do not matter here, and a body that hangs on the ground may not have them.
        scene.body.iter_mut().for_each(|b| (b.velocity, b.angular_velocity) = (None, None));
        let (model, plan) = plan(&scene);
        prop_assert_eq!(plan.links.len(), model.bodies().len());
        for (i, link) in plan.links.iter().enumerate() {
            prop_assert_eq!(plan.link_of_body[link.body.index()], i);
            prop_assert!(link.parent.is_none_or(|p| p < i));
            if let Some(j) = link.joint {
                prop_assert_eq!(plan.link_of_joint[j.index()], Some(i));
                let joint = &model.joints()[j.index()];
                let (inner, outer) = if link.reversed { (joint.child, joint.parent) } else { (joint.parent, joint.child) };
                prop_assert_eq!(outer, Some(link.body));
                prop_assert_eq!(inner.map(|b| plan.link_of_body[b.index()]), link.parent);
            }
        }
        let in_tree = plan.links.iter().filter(|l| l.joint.is_some()).count();
        prop_assert_eq!(in_tree + plan.cuts.len(), model.joints().len());
        prop_assert_eq!(in_tree + plan.n_floating(), model.bodies().len());
    }
}

#[test]
fn a_ring_is_cut_opposite_to_its_anchor() {
    let (_, plan) = plan(&ring(20));
    assert_eq!(plan.cuts.len(), 1);
    // One anchored body and two arms of about ten.
    assert!(plan.depth() <= 12, "{}", plan.depth());
}

#[test]
fn joints_with_many_freedoms_are_cut_and_driven_ones_are_not() {
    let mut scene = ring(4);
    scene.joint[2].kind = JointKind::Spherical;
    (scene.joint[2].axis, scene.joint[2].q, scene.joint[2].v) = (None, None, None);
    let (model, cut_at) = plan(&scene);
    assert_eq!(model.joints()[cut_at.cuts[0].index()].kind(), JointKind::Spherical);
    scene.joint[2].armature = Some(PerCoordinate::All(0.1));
    let (model, cut_at) = plan(&scene);
    assert_eq!(model.joints()[cut_at.cuts[0].index()].kind(), JointKind::Revolute);
}

#[test]
fn a_chain_of_a_hundred_thousand_needs_no_recursion() {
    let (_, plan) = plan(&chain(100_000));
    assert_eq!(plan.depth(), 100_000);
}
