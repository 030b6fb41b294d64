//! Elimination trees: depth, work and open ports by counters, for trees of every shape.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::Rng;
use proptest::prelude::*;
use signorini::plan::{Elimination, Merge, Port, Shape};

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
