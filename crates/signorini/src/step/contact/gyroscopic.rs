//! Gyroscopic torques that do no work, whatever the step.
//!
//! **Problem.** A body with moments I that turns by h ω of the order of one: explicit torques −ω × I ω feed energy into it without bound.
//!
//! **Method.** The implicit midpoint rule on Euler's equations of the body alone, I (ω⁺ − ω) + h ω̄ × I ω̄ = 0 with ω̄ = (ω + ω⁺)/2, by Newton's method. Multiplied by
//! ω̄ it says that ½ ω·I ω stays; what rounding or a last iteration leaves of that is taken out by a factor. The torque is I (ω⁺ − ω)/h.
//!
//! **Cost.** A few 3×3 systems per body.
//!
//! **Fails when** a moment of inertia is zero: the torque then is what the iteration has, which may be none; energy stays.
//!
//! **Checked by** the test below, `tests/contact_turning.rs`.

use crate::dynamics::tree::{Kinematics, Tree};
use crate::spatial::{Mat3, Sym3, Vec3, Wrench, cross_matrix};

/// Most Newton steps, and the change, relative to the angular velocity, from which on they have converged.
const STEPS: usize = 12;
const CONVERGED: f64 = 1e-14;

/// Adds to the wrenches on all links the mean gyroscopic torque over a step.
pub(super) fn add_torques(tree: &Tree, kinematics: &Kinematics, h: f64, external: &mut [Wrench]) {
    for ((link, motion), external) in tree.links.iter().zip(&kinematics.links).zip(external) {
        let own = &link.inertia;
        let central = own.moments.to_matrix() - Sym3::of_point_mass(own.mass, &own.com).to_matrix();
        let before = motion.rotation.tr_mul(&motion.omega);
        let change = turn_freely(&central, &before, h) - before;
        *external += Wrench::new(motion.rotation * (central * change) / h, Vec3::zeros());
    }
}

/// Angular velocity in body axes after a time in which nothing acts on a body.
fn turn_freely(inertia: &Mat3, before: &Vec3, h: f64) -> Vec3 {
    let mut after = *before;
    for _ in 0..STEPS {
        let mean = (before + after) * 0.5;
        let momentum = inertia * mean;
        let residual = inertia * (after - before) + mean.cross(&momentum) * h;
        let slope = inertia + (cross_matrix(&mean) * inertia - cross_matrix(&momentum)) * (0.5 * h);
        let Some(change) = slope.lu().solve(&residual).filter(|x| x.iter().all(|x| x.is_finite())) else { break };
        after -= change;
        if change.norm() <= CONVERGED * before.norm() {
            break;
        }
    }
    let energy = |w: &Vec3| w.dot(&(inertia * w));
    let (was, is) = (energy(before), energy(&after));
    if is > 0.0 && is.is_finite() { after * (was / is).sqrt() } else { *before }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A body about its middle axis, a hundred turns of 0.01 to 10 rad: energy stays to rounding; momentum to the order of the rule.
    #[test]
    fn energy_stays_at_any_step() {
        let inertia = Mat3::from_diagonal(&Vec3::new(1.0, 2.0, 3.0));
        for h in [0.01, 0.1, 1.0, 10.0] {
            let start = Vec3::new(0.1, 1.0, 0.05);
            let mut omega = start;
            for _ in 0..100 {
                omega = turn_freely(&inertia, &omega, h);
            }
            let energy = |w: &Vec3| w.dot(&(inertia * w));
            assert!((energy(&omega) / energy(&start) - 1.0).abs() <= 1e-13, "{h}");
            let momentum = (inertia * omega).norm() / (inertia * start).norm();
            // The rule keeps quadratic invariants; Newton's method must have converged for that.
            assert!((momentum - 1.0).abs() <= 1e-9, "{h}: {momentum}");
        }
    }
}
