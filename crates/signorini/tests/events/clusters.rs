//! Events under divide and conquer: the same answers, and only the way to the root is assembled again.

use super::common::chain;
use signorini::model::event::Action;
use signorini::plan::Shape;
use signorini::scene::{Formulation, Scene};
use signorini::step::{Observation, Simulation};

fn start(scene: &Scene, formulation: Formulation) -> Simulation {
    let mut scene = scene.clone();
    scene.solver.formulation = formulation;
    Simulation::from_scene(&scene).unwrap()
}

#[test]
fn a_lock_repeats_the_way_to_the_root_only() {
    for n in [100_usize, 1000, 4000] {
        let scene = chain(n);
        let mut simulation = start(&scene, Formulation::Dca);
        simulation.set_shape(Shape::Balanced);
        let joint = simulation.system().model.joints()[n / 3].name.clone();
        let first = simulation.joint(&joint).unwrap();
        let mut rates = Vec::new();
        let begin = simulation.work_counter();
        simulation.accelerations(&mut rates).unwrap();
        let evaluation = simulation.work_counter() - begin;

        // Where a step ends, positions and velocities are known.
        simulation.observe(false, &mut Observation::default()).unwrap();
        let (begin, merges) = (simulation.work_counter(), simulation.merge_counter());
        simulation.apply("lock", &[Action::lock(first)]).unwrap();
        let event = simulation.work_counter() - begin;
        let bound = 2 * n.ilog2() as u64 + 8;
        let repeated = simulation.events()[0].merges;
        assert!((1..=bound).contains(&repeated), "{repeated} merges repeated for {n} links, allowed {bound}");
        assert!(event <= 2 * evaluation, "{event} link visits for an event, {evaluation} for an evaluation");
        // The first event of an instant assembles the clusters once; the next one finds them assembled.
        assert!(simulation.merge_counter() - merges <= n as u64 + bound);
        let merges = simulation.merge_counter();
        let third = simulation.system().model.joints()[n / 2].name.clone();
        let third = simulation.joint(&third).unwrap();
        simulation.apply("lock", &[Action::lock(third)]).unwrap();
        assert!(simulation.merge_counter() - merges <= bound, "{}", simulation.merge_counter() - merges);
    }
}

#[test]
fn the_way_to_the_root_gives_the_bits_of_the_whole() {
    // Two locks one after the other: the second on clusters that the first has left, and on fresh ones.
    let scene = chain(64);
    let mut one = start(&scene, Formulation::Dca);
    let mut other = start(&scene, Formulation::Dca);
    let mut recursive = start(&scene, Formulation::Recursive);
    one.set_shape(Shape::Balanced);
    other.set_shape(Shape::Balanced);
    let names: Vec<String> = [20, 40].iter().map(|&j| one.system().model.joints()[j].name.clone()).collect();
    for name in &names {
        let joint = one.joint(name).unwrap();
        for simulation in [&mut one, &mut recursive] {
            simulation.apply("lock", &[Action::lock(joint)]).unwrap();
        }
        // Another workspace: nothing is left of the event before.
        let mut fresh = Simulation::new(
            std::sync::Arc::clone(&start(&scene, Formulation::Dca).system().model),
            other.system().plan.clone(),
            signorini::step::Options { formulation: Formulation::Dca, ..Default::default() },
            other.state().clone(),
        )
        .unwrap();
        fresh.set_shape(Shape::Balanced);
        fresh.apply("lock", &[Action::lock(joint)]).unwrap();
        other = fresh;
        assert_eq!(one.state().v, other.state().v);
    }
    let scale = recursive.state().v.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    for (a, b) in one.state().v.iter().zip(&recursive.state().v) {
        // The recursion eliminates in another order; rounding of a chain of 64 links.
        assert!((a - b).abs() <= 1e-9 * scale, "{a} {b}");
    }
}
