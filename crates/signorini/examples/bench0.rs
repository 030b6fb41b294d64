use signorini::{dynamics::recursive::*, model::Model, plan::Plan, scene::*};
use std::time::Instant;
fn chain(n: usize) -> Scene {
    let mut s = Scene { gravity: [0., 0., -9.81], ..Default::default() };
    s.time.end = 1.0;
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
    let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let part: usize = std::env::args().nth(2).unwrap().parse().unwrap();
    let model = Model::build(&chain(n)).unwrap();
    let plan = Plan::build(&model, &|_| false);
    let tree = Tree::build(&model, &plan);
    let mut r = Recursion::new(&tree);
    let q: Vec<f64> = (0..n).map(|i| 0.1 * (1.0 + i as f64).sin()).collect();
    let v: Vec<f64> = (0..n).map(|i| 0.1 * (2.0 + i as f64).cos()).collect();
    let tau = vec![0.0; n];
    let mut a = vec![0.0; n];
    let g = model.gravity();
    r.forward_dynamics(&tree, &g, &q, &v, &tau, &mut a);
    let reps = (4_000_000 / n).max(1);
    let t = Instant::now();
    for _ in 0..reps {
        match part {
            0 => r.forward_dynamics(&tree, &g, &q, &v, &tau, &mut a),
            1 => r.update_kinematics(&tree, &q, &v),
            2 => r.update_articulated(&tree, &tau, &[], None),
            3 => r.update_accelerations(&tree, &g, &[], &mut a),
            _ => {
                let mut s = 0.0;
                for x in &q {
                    let (a, b) = x.sin_cos();
                    s += a + b;
                }
                std::hint::black_box(s);
            }
        }
    }
    println!("{n} {part}: {:.1} ns/link a0 {}", t.elapsed().as_secs_f64() / reps as f64 / n as f64 * 1e9, a[0]);
}
