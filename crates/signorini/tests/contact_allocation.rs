//! A warm-started re-solve of an unchanged problem allocates nothing.
//!
//! Alone in its file: the counting allocator sees every thread of the process.
#![allow(clippy::unwrap_used, clippy::expect_used)]
// To count allocations.
#![allow(unsafe_code)]

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use signorini::contact::{Start, solve};
use support::generate::{Law, Recipe, Rng, problem};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: defers to the system allocator; the counter has no effect on what is returned.
// SAFETY: everything is handed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's contract is the same.
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is the same.
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn warm_re_solve_allocates_nothing() {
    for law in [Law::Frictionless, Law::Planar, Law::Circular, Law::Rolling, Law::Ellipsoidal] {
        let mut rng = Rng(17);
        let (p, _) = problem(&Recipe::random(law, 60, &mut rng), &mut rng);
        // The factored operator keeps scratch of its own; stepping hands over matrices.
        let mut blocks = signorini::contact::delassus::BlockMatrix::default();
        p.delassus().write_blocks(p.offsets(), &mut blocks);
        let p =
            signorini::contact::ContactProblem::build(blocks, p.free_velocity().to_vec(), p.cones().to_vec()).unwrap();
        let mut solver = solve::solver_by_name("auto", 1e-9).unwrap();
        let mut solution = solver.solve(&p).unwrap();
        assert!(solution.status.is_solved());
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        for _ in 0..10 {
            solver.solve_into(&p, Start::Warm, &mut solution).unwrap();
        }
        assert_eq!(ALLOCATIONS.load(Ordering::Relaxed) - before, 0, "{law:?}");
    }
}
