//! What can be seen of a mechanism at one instant, in the user's order and conventions.

/// Motion of one body.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BodyMotion {
    /// Centre of mass, world.
    pub position: [f64; 3],
    /// Orientation of the body frame, quaternion w x y z, body to world.
    pub orientation: [f64; 4],
    /// Velocity of the centre of mass, world axes.
    pub velocity: [f64; 3],
    /// Angular velocity, world axes.
    pub angular_velocity: [f64; 3],
}

/// One condition of a coupling.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CouplingMotion {
    /// How far it is from being met.
    pub gap: f64,
    /// Rate of that.
    pub rate: f64,
    /// Force that keeps it, conjugate to the rate; not a number unless asked for.
    pub force: f64,
}

/// Everything recordable at one instant. Bodies, joints and markers are in the order of the scene.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observation {
    /// Time.
    pub time: f64,
    /// One entry per body of the scene, the ground left out.
    pub bodies: Vec<BodyMotion>,
    /// Coordinates of all joints, joint after joint; not a number where a joint does not exist.
    pub joint_q: Vec<f64>,
    /// Speeds of all joints, joint after joint.
    pub joint_v: Vec<f64>,
    /// Per joint: the whole wrench it transmits to its child (moment, force; world axes; at the child's joint frame).
    /// Empty unless asked for.
    pub reactions: Vec<[f64; 6]>,
    /// Generalised force of actuators on each speed of each joint, like `joint_v`. Empty unless asked for.
    pub actuators: Vec<f64>,
    /// Conditions of all couplings, coupling after coupling; not a number where one does not act.
    pub couplings: Vec<CouplingMotion>,
    /// World positions of the markers.
    pub markers: Vec<[f64; 3]>,
    /// Kinetic energy.
    pub kinetic: f64,
    /// Potential energy of gravity and springs.
    pub potential: f64,
}
