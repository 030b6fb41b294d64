//! Springs, dampers and servos in joints, taken implicitly by a step in velocities.
//!
//! **Problem.** A step M (v⁺ − v) = h F + Wᵀr that takes F at the velocities and coordinates it starts from explodes where h d/I > 2 or h² k/I > 4,
//! I being the inertia that a joint's speed meets. A stiff spring must come to rest where statics says, a strong damper must stop what it
//! damps, a weak one must keep the order of the step, and none may ring.
//!
//! **Method.** For each speed of a joint of the tree, with q₀ the coordinate at which the step takes its inertias and rates ẋ of targets,
//!
//! ```text
//! f = −k (q₀ + α h (v⁺ − ẋ) − rest) − d ((1 − θ) v + θ v⁺ − ẋ),   z_d = h d/I,  z_k = h² k/I,  θ = max(½, 1 − 1/z_d),  α = z_k/(z_k + 4)
//! ```
//!
//! so that M gets h θ d + h² α k on its diagonal, which every sweep takes like the inertia of a rotor, and contact meets the same matrix. With one
//! speed and x = q₀: h v⁺ = (h v − z_k x)/(1 + α z_k), x⁺ = x + h v⁺. The product of the roots is 1/(1 + α z_k) = 1 − z_k²/4 + …, a loss of third
//! order per time; they stay within the unit circle where α ≥ ½ − 2/z_k, which z_k/(z_k + 4) is for every z_k, and up to an inertia taken
//! for 5.8 times too large. For z → ∞ spring and damper end within a step. At rest v = v⁺ = 0: the force
//! is that of the spring, at any step. 1/I is a diagonal element of the tree's M⁻¹, so that loops and other springs make joints heavier than they
//! are taken for, which is the safe side.
//!
//! A servo with a limit is let go where the free motion asks for more, and pushes with the limit for the step.
//!
//! The rate of work is that of f at ½ (v + v⁺): what α h k v⁺ and d take of a spring counts as dissipated, what a servo does as work.
//!
//! **Cost.** One more inward and outward sweep of the tree, about 700 flops per speed, where a joint has any of this.
//!
//! **Fails when** never to be stable; where the step moves by a mean of the speeds (flight, `moreau`), what it does not resolve is stretched by h v/4 for
//! one step after a blow. Joints that close loops and springs between points are not in it.
//!
//! **Checked by** `tests/implicit.rs`.

use super::joint::{JointForces, SpeedLaw};
use super::sight::Site;
use super::{ForceElement, Forces};
use crate::dynamics::error::DynamicsError;
use crate::dynamics::recursive::{Recursion, find_speed_mobilities};
use crate::dynamics::system::{System, Workspace};
use crate::model::Instant;

/// Implicit forces of one step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Implicit {
    /// Joints that have any.
    joints: Vec<(JointForces, usize)>,
    /// Those that were evaluated last.
    is_chosen: Vec<bool>,
    /// Per speed of the tree.
    laws: Vec<SpeedLaw>,
    weights: Vec<Weights>,
    mobility: Vec<f64>,
    mobilities: Vec<[[f64; 6]; 6]>,
    recursion: Option<Recursion>,
}

/// How implicit one speed is.
#[derive(Debug, Clone, Copy, Default)]
struct Weights {
    /// Share of the velocity after in what a damper feels.
    theta: f64,
    /// Share of the displacement in what a spring feels.
    alpha: f64,
    /// Inertia that both add.
    added: f64,
}

impl Weights {
    /// For what acts on a speed that moves with `mobility`, one over its inertia.
    fn find(law: &SpeedLaw, mobility: f64, h: f64) -> Self {
        let (damping, stiffness) = (law.damping(), law.stiffness());
        // A joint that moves no inertia has an infinite mobility.
        let theta = if damping > 0.0 { (1.0 - 1.0 / (h * damping * mobility)).max(0.5) } else { 0.0 };
        let alpha = if stiffness > 0.0 { 1.0 / (1.0 + 4.0 / (h * h * stiffness * mobility)) } else { 0.0 };
        Self { theta, alpha, added: h * theta * damping + h * h * alpha * stiffness }
    }
}

/// Energy that implicit forces passed in a step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Passed {
    /// By servos.
    pub work: f64,
    /// By dampers, and by what keeps springs from ringing.
    pub dissipated: f64,
}

impl Implicit {
    /// Room for a mechanism.
    pub fn new(system: &System) -> Self {
        let joints: Vec<_> = system.forces.implicit_joints().collect();
        let n = if joints.is_empty() { 0 } else { system.tree.n_v };
        Self {
            laws: vec![SpeedLaw::default(); n],
            weights: vec![Weights::default(); n],
            mobility: vec![0.0; n],
            mobilities: Vec::with_capacity(if n == 0 { 0 } else { system.tree.links.len() }),
            recursion: (n > 0).then(|| Recursion::new(&system.tree)),
            is_chosen: vec![false; joints.len()],
            joints,
        }
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }

    /// Finds weights and forces for a step of length `h` from the kinematics in `w`, coordinates `q` and speeds `v`.
    pub fn begin(&mut self, system: &System, now: Instant, (q, v): (&[f64], &[f64]), h: f64, w: &Workspace) {
        let Some(recursion) = &mut self.recursion else { return };
        recursion.update_articulated(&system.tree, &w.kinematics, &w.tau, &w.prescribed, None);
        let swept = recursion.swept(&system.tree, &w.kinematics);
        find_speed_mobilities(swept, &mut self.mobilities, &mut self.mobility);
        self.laws.fill(SpeedLaw::default());
        self.weights.fill(Weights::default());
        self.evaluate(system, now, (q, v), h, |_| true);
    }

    /// Finds the forces from other coordinates, in links that are chosen.
    pub fn evaluate(
        &mut self,
        system: &System,
        now: Instant,
        (q, v): (&[f64], &[f64]),
        h: f64,
        is_chosen: impl Fn(usize) -> bool,
    ) {
        for ((joint, i), chosen) in self.joints.iter().zip(&mut self.is_chosen) {
            *chosen = is_chosen(*i);
            if !*chosen {
                continue;
            }
            let link = &system.tree.links[*i];
            let range = link.v_range();
            let state = (&q[link.q_range()], &v[range.clone()]);
            joint.write_laws(&system.model, now, state, &mut self.laws[range.clone()]);
            for at in range.filter(|at| !system.tree.prescribed[*at]) {
                self.weights[at] = Weights::find(&self.laws[at], self.mobility[at], h);
            }
        }
    }

    /// Adds forces and inertias to those of a step that starts at speeds `v`.
    pub fn impose(&self, system: &System, v: &[f64], h: f64, w: &mut Workspace) {
        for (at, (law, weights)) in self.laws.iter().zip(&self.weights).enumerate() {
            w.kinematics.armature[at] = system.tree.armature[at] + weights.added;
            w.tau[at] += imposed(law, weights, v[at], h);
        }
    }

    /// Rates at a configuration in a step from speeds `v`, with servos within their limits.
    pub fn accelerate(
        &mut self,
        system: &System,
        at: Instant,
        (v, rates): (&[f64], &mut [f64]),
        h: f64,
        w: &mut Workspace,
    ) -> Result<(), DynamicsError> {
        system.accelerate(at, rates, w)?;
        // Every round lets at least one servo go for good.
        while self.saturate(system, (v, rates), h, w) {
            system.accelerate(at, rates, w)?;
        }
        Ok(())
    }

    /// Lets servos whose force in a step from speeds `v` at the rates `rates` would be beyond their limit push with the limit, whatever the
    /// step leads to, in links whose forces were evaluated last; whether there are more of them now. `w` is told.
    fn saturate(&mut self, system: &System, (v, rates): (&[f64], &[f64]), h: f64, w: &mut Workspace) -> bool {
        let mut is_more = false;
        for ((_, i), _) in self.joints.iter().zip(&self.is_chosen).filter(|(_, is_chosen)| **is_chosen) {
            for at in system.tree.links[*i].v_range() {
                let (law, weights) = (&mut self.laws[at], &mut self.weights[at]);
                let wanted = servo_force(law, weights, v[at], v[at] + h * rates[at], h);
                let is_let_go = law.servo_stiffness + law.servo_damping == 0.0;
                if is_let_go || wanted.abs() <= law.servo_limit || wanted.is_nan() {
                    continue;
                }
                let before = imposed(law, weights, v[at], h);
                law.servo_force = law.servo_limit.copysign(wanted);
                (law.servo_stiffness, law.servo_damping) = (0.0, 0.0);
                if !system.tree.prescribed[at] {
                    *weights = Weights::find(law, self.mobility[at], h);
                }
                w.tau[at] += imposed(law, weights, v[at], h) - before;
                w.kinematics.armature[at] = system.tree.armature[at] + weights.added;
                is_more = true;
            }
        }
        is_more
    }

    /// Takes inertias away again.
    pub fn clear(&self, system: &System, w: &mut Workspace) {
        if !self.is_empty() {
            w.kinematics.armature.copy_from_slice(&system.tree.armature);
        }
    }

    /// Force of a joint's servos on a speed, in a step from speed `v` to `v_end`.
    pub fn servo_force(&self, at: usize, v: f64, v_end: f64, h: f64) -> f64 {
        let (Some(law), Some(weights)) = (self.laws.get(at), self.weights.get(at)) else { return 0.0 };
        servo_force(law, weights, v, v_end, h)
    }

    /// Energy that passed in a step from speeds `v` to `v_end`.
    pub fn find_passed(&self, v: &[f64], v_end: &[f64], h: f64) -> Passed {
        let mut passed = Passed::default();
        for (at, (law, weights)) in self.laws.iter().zip(&self.weights).enumerate() {
            let moved = h * 0.5 * (v[at] + v_end[at]);
            let felt = v[at] + weights.theta * (v_end[at] - v[at]);
            let resisted = law.spring_damping * felt + weights.alpha * h * law.spring_stiffness * v_end[at];
            passed.work += self.servo_force(at, v[at], v_end[at], h) * moved;
            // d v̄² + α h k v̄² and the change of ½ S v² with S = h d (θ − ½) + ½ α h² k: what a step borrows is given back, and the sum is never
            // negative.
            passed.dissipated += resisted * moved;
        }
        passed
    }
}

/// Force of the servos on a speed in a step from `v` to `v_end`.
fn servo_force(law: &SpeedLaw, weights: &Weights, v: f64, v_end: f64, h: f64) -> f64 {
    let felt = v + weights.theta * (v_end - v);
    law.servo_force
        + weights.alpha * h * law.servo_stiffness * (law.spring_rate - v_end)
        + law.servo_damping * (law.rate - felt)
}

/// Force on a speed at the start of a step, with what springs lose on the way at that speed.
fn imposed(law: &SpeedLaw, weights: &Weights, v: f64, h: f64) -> f64 {
    let lost = law.servo_stiffness * (law.spring_rate - v) - law.spring_stiffness * v;
    law.force(v) + weights.alpha * h * lost
}

impl Forces {
    /// Joints of the tree with springs, dampers or servos, and their links.
    fn implicit_joints(&self) -> impl Iterator<Item = (JointForces, usize)> {
        self.elements.iter().filter_map(|element| match element {
            ForceElement::Joint(joint) => match joint.site() {
                Site::Link(i) => Some((*joint, i)),
                Site::Cut(_) => None,
            },
            _ => None,
        })
    }
}
