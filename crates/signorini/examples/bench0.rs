use signorini::{dynamics::recursive::*, model::Model, plan::Plan, scene::*};
use std::time::Instant;
fn chain(n: usize) -> Scene {
    let mut s = Scene { gravity: [0., 0., -9.81], ..Default::default() };
    for i in 0..n {
        let (l, w) = (0.2, 0.02);
        s.body.push(Body {
            name: format!("l{i}"),
            mass: Some(1.0),
            com: Some([0., 0., -l / 2.]),
            inertia: Some(vec![(w * w + l * l / 4.) / 3., (w * w + l * l / 4.) / 3., 2. * w * w / 3.]),
            ..Default::default()
        });
        s.joint.push(Joint {
            name: format!("j{i}"),
            kind: JointKind::Revolute,
            parent: if i == 0 { "ground".into() } else { format!("l{}", i - 1) },
            child: format!("l{i}"),
            parent_frame: Some(FrameRef::Pose { position: [0., 0., if i == 0 { 0. } else { -l }], orientation: None }),
            axis: Some(if i % 2 == 0 { [0., 1., 0.] } else { [1., 0., 0.] }),
            ..Default::default()
        });
    }
    s
}
fn main() {
    for n in [10, 50, 100, 500, 1000, 10000, 100000] {
        let model = Model::build(&chain(n)).unwrap();
        let plan = Plan::build(&model, &|_| false);
        let tree = Tree::build(&model, &plan);
        let mut r = Recursion::new(&tree);
        let q: Vec<f64> = (0..n).map(|i| 0.1 * (1.0 + i as f64).sin()).collect();
        let v: Vec<f64> = (0..n).map(|i| 0.1 * (2.0 + i as f64).cos()).collect();
        let tau = vec![0.0; n];
        let mut a = vec![0.0; n];
        let g = model.gravity();
        let reps = (2_000_00 / n).max(1);
        let mut best = f64::INFINITY;
        let mut parts = [f64::INFINITY; 3];
        for _ in 0..15 {
            let t = Instant::now();
            for _ in 0..reps {
                r.forward_dynamics(&tree, &g, &q, &v, &tau, &mut a);
            }
            best = best.min(t.elapsed().as_secs_f64() / reps as f64 / n as f64 * 1e9);
            let t = Instant::now();
            for _ in 0..reps {
                r.update_kinematics(&tree, &q, &v);
            }
            parts[0] = parts[0].min(t.elapsed().as_secs_f64() / reps as f64 / n as f64 * 1e9);
            let t = Instant::now();
            for _ in 0..reps {
                r.update_articulated(&tree, &tau, &[], None);
            }
            parts[1] = parts[1].min(t.elapsed().as_secs_f64() / reps as f64 / n as f64 * 1e9);
            let t = Instant::now();
            for _ in 0..reps {
                r.update_accelerations(&tree, &g, &[], &mut a);
            }
            parts[2] = parts[2].min(t.elapsed().as_secs_f64() / reps as f64 / n as f64 * 1e9);
        }
        println!("{n}: {best:.1} ns/link {parts:.1?}  a0 {} a1 {}", a[0], a[1]);
    }
}
