//! Elimination trees: depth, work and open ports by counters, for trees of every shape.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{Rng, chain};
use proptest::prelude::*;
use signorini::model::Model;
use signorini::plan::{Cluster, Elimination, End, Merge, Plan, Port, Shape};
use signorini::scene::{GROUND, Scene};

type Parents = Vec<Option<usize>>;

fn chain_of(n: usize) -> Parents {
    (0..n).map(|i| i.checked_sub(1)).collect()
}

fn star(n: usize) -> Parents {
    (0..n).map(|i| (i > 0).then_some(0)).collect()
}

/// A spine with a tooth of `length` links on every link.
fn comb(spine: usize, length: usize) -> Parents {
    let mut parents: Parents = Vec::new();
    let mut last = None;
    for _ in 0..spine {
        parents.push(last);
        last = Some(parents.len() - 1);
        let mut tooth = last;
        for _ in 0..length {
            parents.push(tooth);
            tooth = Some(parents.len() - 1);
        }
    }
    parents
}

/// A chain with a star at its end.
fn broom(n: usize) -> Parents {
    (0..n).map(|i| if i <= n / 2 { i.checked_sub(1) } else { Some(n / 2) }).collect()
}

fn complete(n: usize, arity: usize) -> Parents {
    (0..n).map(|i| (i > 0).then(|| (i - 1) / arity)).collect()
}

fn random(rng: &mut Rng, n: usize, reach: usize) -> Parents {
    (0..n).map(|i| (i > 0).then(|| i - 1 - rng.below(reach.min(i)))).collect()
}

/// Every child but the first is half as large as what is left: heavy paths that branch as much as they can.
fn fibonacci(n: usize) -> Parents {
    let mut parents: Parents = vec![None];
    let mut stack = vec![(0usize, n - 1)];
    while let Some((at, size)) = stack.pop() {
        for part in [size * 3 / 5, size - size * 3 / 5] {
            if part > 0 {
                parents.push(Some(at));
                stack.push((parents.len() - 1, part - 1));
            }
        }
    }
    parents
}

fn log2(n: usize) -> f64 {
    (n.max(1) as f64).log2()
}

/// Checks that the clusters are what they claim to be, and returns the tree.
fn check(parents: &Parents, ports: &[Port], shape: Shape) -> Elimination {
    let plan = Elimination::build(parents, ports, shape);
    let n = parents.len();
    let mut seen = vec![false; n];
    plan.order.iter().for_each(|&l| assert!(!std::mem::replace(&mut seen[l], true)));
    assert!(seen.iter().all(|&s| s));
    let mut starts = vec![0; plan.clusters.len()];
    for (c, cluster) in plan.clusters.iter().enumerate() {
        let second = c.wrapping_sub(1);
        let (start, end) = match cluster.merge {
            Merge::Block { start, end } => (start, end),
            _ => {
                let first = second - plan.clusters[second].n_clusters;
                let (a, b) = (&plan.clusters[first], &plan.clusters[second]);
                assert_eq!(cluster.n_links, a.n_links + b.n_links);
                match cluster.merge {
                    Merge::Compress => assert!(a.bottom.is_some() && b.top == a.bottom && cluster.bottom == b.bottom),
                    _ => assert!(a.top == b.top && (a.bottom.is_none() || b.bottom.is_none())),
                }
                (starts[first], starts[first] + cluster.n_links)
            }
        };
        starts[c] = start;
        let links = &plan.order[start..end];
        assert_eq!(links.len(), cluster.n_links);
        if n <= 300 {
            for (i, p) in parents.iter().enumerate() {
                // Within: a parent outside is the top. Outside: a parent inside is the bottom.
                let p_inside = p.is_some_and(|p| links.contains(&p));
                match links.contains(&i) {
                    true => assert!(p_inside || *p == cluster.top),
                    false => assert!(!p_inside || *p == cluster.bottom),
                }
            }
        }
    }
    assert_eq!(plan.clusters.last().map_or(0, |c| c.n_links), n);
    plan
}

#[test]
fn chains_are_shallow() {
    for n in [1, 2, 3, 10, 100, 1000, 1023, 1025, 10_000, 100_000] {
        let plan = check(&chain_of(n), &[], Shape::Balanced);
        assert!(plan.depth() as f64 <= 2.0 * log2(n) + 4.0, "{n}: {}", plan.depth());
        assert!(plan.joint_ports() <= 3);
        // One block and one merge per link: 1 + 20 columns' worth, and 9 for a compression.
        assert!(plan.work() <= 20.0 * n as f64, "{n}: {}", plan.work() / n as f64);
        assert_eq!(check(&chain_of(n), &[], Shape::Caterpillar).depth(), 0);
    }
}

#[test]
fn trees_are_shallow() {
    let mut rng = Rng(5);
    let mut trees: Vec<(String, Parents)> = Vec::new();
    for n in [7, 30, 300, 3000, 30_000] {
        trees.push((format!("star {n}"), star(n)));
        trees.push((format!("broom {n}"), broom(n)));
        trees.push((format!("binary {n}"), complete(n, 2)));
        trees.push((format!("ternary {n}"), complete(n, 3)));
        trees.push((format!("fibonacci {n}"), fibonacci(n)));
        let root = (n as f64).sqrt() as usize;
        trees.push((format!("comb {n}"), comb(root, root)));
        trees.push((format!("caterpillar {n}"), comb(n / 2, 1)));
        trees.push((format!("forest {n}"), vec![None; n]));
        for reach in [2, 5, 50, n] {
            trees.push((format!("random {n} {reach}"), random(&mut rng, n, reach)));
        }
    }
    for (name, parents) in trees {
        let n = parents.len();
        let plan = check(&parents, &[], Shape::Balanced);
        let bound = 4.0 * log2(n) + 8.0;
        assert!(plan.depth() as f64 <= bound, "{name}: {} > {bound}", plan.depth());
        assert!(plan.joint_ports() <= 3, "{name}");
        assert!(plan.work() <= 20.0 * n as f64, "{name}: {}", plan.work() / n as f64);
    }
}

proptest! {
    #[test]
    fn random_trees(seed: u64, n in 1usize..300, reach in 1usize..300, limit in 1usize..40) {
        let parents = random(&mut Rng(seed), n, reach);
        let plan = check(&parents, &[], Shape::Balanced);
        prop_assert!(plan.depth() as f64 <= 4.0 * log2(n) + 8.0);
        let blocked = check(&parents, &[], Shape::Blocked(limit));
        prop_assert!(blocked.depth() <= plan.depth());
        for cluster in &blocked.clusters {
            if let Merge::Block { start, end } = cluster.merge {
                prop_assert!(end - start <= limit);
            }
        }
    }
}

/// Links of each block, in the order of the tree.
fn block_sizes(plan: &Elimination) -> Vec<usize> {
    let size = |c: &Cluster| if let Merge::Block { start, end } = c.merge { Some(end - start) } else { None };
    plan.clusters.iter().filter_map(size).collect()
}

/// Blocks of a chain take equally long: the one at the tip, which has no bottom, is a third larger than the others.
#[test]
fn auto_evens_out_the_blocks_of_a_chain() {
    for (n, n_blocks) in [(2047, 1), (2048, 2), (5000, 2), (8191, 2), (8192, 4), (10_000, 4), (40_001, 16)] {
        let plan = check(&chain_of(n), &[], Shape::Auto);
        let sizes = block_sizes(&plan);
        assert_eq!(sizes.len(), n_blocks, "{n}: {sizes:?}");
        assert_eq!(plan.depth(), n_blocks.ilog2() as usize);
        let (tip, others) = sizes.split_last().unwrap();
        // A chain of n links has at most one split per level, each off by half a link.
        let wanted = 0.75 * *tip as f64;
        assert!(others.iter().all(|&m| (m as f64 - wanted).abs() <= 4.0), "{n}: {sizes:?}");
    }
}

/// Large trees of any shape: as many blocks as a chain, give or take what branchings leave over.
#[test]
fn auto_blocks_of_trees_are_large() {
    let mut rng = Rng(6);
    let n = 20_000;
    let mut trees = vec![("star", star(n)), ("broom", broom(n)), ("binary", complete(n, 2)), ("comb", comb(140, 141))];
    trees.push(("fibonacci", fibonacci(n)));
    trees.push(("forest", vec![None; n]));
    trees.extend([2, 50, n].map(|reach| ("random", random(&mut rng, n, reach))));
    for (name, parents) in trees {
        let plan = check(&parents, &[], Shape::Auto);
        let sizes = block_sizes(&plan);
        // Eight blocks of even work for a chain; the block at the tip would have 3200 links.
        assert!(sizes.iter().all(|&m| m <= 4100), "{name}: {sizes:?}");
        assert!((5..=40).contains(&sizes.len()), "{name}: {sizes:?}");
        assert!(plan.work() <= 1.6 * parents.len() as f64, "{name}: {}", plan.work());
    }
}

/// Bodies joined by revolute joints, anywhere: only the graph matters.
fn graph(n: usize, joints: &[(Option<usize>, usize)]) -> Scene {
    let mut scene = chain(n);
    let pattern = scene.joint[0].clone();
    let name = |b: Option<usize>| b.map_or(GROUND.to_owned(), |b| format!("l{b}"));
    let joint = |(k, &(a, b)): (usize, &(Option<usize>, usize))| {
        let mut joint = pattern.clone();
        (joint.name, joint.parent, joint.child) = (format!("j{k}"), name(a), name(Some(b)));
        joint
    };
    scene.joint = joints.iter().enumerate().map(joint).collect();
    scene
}

/// Two rails of `n` links from the ground with a rung between every two of their links.
fn ladder(n: usize) -> Scene {
    let mut joints = Vec::new();
    for i in 0..n {
        joints.push((i.checked_sub(1), i));
        joints.push((i.checked_sub(1).map(|i| n + i), n + i));
        joints.extend([(Some(i), 2 * n + i), (Some(n + i), 2 * n + i)]);
    }
    graph(3 * n, &joints)
}

/// Uprights on the ground with a coupler between every two of them: a row of four-bars.
fn windows(n: usize) -> Scene {
    let mut joints: Vec<(Option<usize>, usize)> = (0..=n).map(|i| (None, i)).collect();
    (0..n).for_each(|i| joints.extend([(Some(i), n + 1 + i), (Some(i + 1), n + 1 + i)]));
    graph(2 * n + 1, &joints)
}

/// A floating chain of rings of four bodies that share one body each.
fn rings(n: usize) -> Scene {
    let mut joints = vec![(None, 0)];
    for i in 0..n {
        let at = 3 * i;
        joints.extend([(Some(at), at + 1), (Some(at + 1), at + 3), (Some(at), at + 2), (Some(at + 2), at + 3)]);
    }
    graph(3 * n + 1, &joints)
}

#[test]
fn loops_of_bounded_width_take_linear_work() {
    for (name, make) in [("ladder", ladder as fn(usize) -> Scene), ("windows", windows), ("rings", rings)] {
        for n in [4, 16, 64, 256] {
            let model = Model::build(&make(n)).unwrap();
            let plan = Plan::build(&model, &|_| false);
            let ports = plan.closures(&model);
            let balanced = check(&plan.parents(), &ports, Shape::Balanced);
            let auto = check(&plan.parents(), &ports, Shape::Auto);
            let bodies = model.bodies().len();
            assert!(balanced.depth() as f64 <= 4.0 * log2(bodies) + 8.0, "{name} {n}");
            // Three cuts or so at either end of a stretch, of five conditions each.
            assert!(balanced.widest() <= 40, "{name} {n}: {}", balanced.widest());
            assert!(balanced.work() <= 40.0 * bodies as f64, "{name} {n}: {}", balanced.work() / bodies as f64);
            assert!(auto.work() <= 20.0 * bodies as f64, "{name} {n}: {}", auto.work() / bodies as f64);
        }
    }
}

/// A contact's columns take part in every merge up to the root, so the links that carry contacts come last.
#[test]
fn links_with_contacts_are_merged_late() {
    let parents = chain_of(1024);
    for link in [0, 300, 1023] {
        let port = Port { ends: vec![End::Link(link), End::Ground], n_rows: 3, is_kept: true };
        let plan = check(&parents, &[port], Shape::Balanced);
        let merges = plan.clusters.iter().filter(|c| !c.open.is_empty()).count() - 1;
        // All other links are ten or eleven merges away from the root.
        assert!(merges <= 8, "{link}: {merges}");
        assert!(plan.depth() <= 11);
        assert_eq!(plan.clusters.last().unwrap().open, [0]);
    }
}
