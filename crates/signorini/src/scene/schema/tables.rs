//! The tables themselves. Order is the order of the documentation.

use super::{KeySpec, KindSpec, TableSpec, ValueSpec, optional, required};
use crate::scene::force::FORCE;
use ValueSpec::{Choice, Count, Counts, Directions, Flag, Limits, Number, NumberOrNumbers, NumberOrTable};
use ValueSpec::{NumberPairOrTable, Numbers, Points};
use ValueSpec::{Table, Tables, Text, TextOrTable, Texts};

pub(crate) const VECTOR: ValueSpec = Numbers(&[3]);
const QUATERNION: ValueSpec = Numbers(&[4]);
const FRICTION_VALUE: ValueSpec = NumberPairOrTable(&FRICTION);

pub(crate) const fn kind(kind: &'static str, keys: &'static [KeySpec]) -> KindSpec {
    KindSpec { kind, keys }
}

/// The whole file.
pub(crate) static SCENE: TableSpec = TableSpec {
    name: "scene",
    keys: &[
        optional("title", Text),
        optional("gravity", VECTOR),
        required("time", Table(&TIME)),
        optional("solver", Table(&SOLVER)),
        optional("output", Table(&OUTPUT)),
        optional("material", Tables(&MATERIAL)),
        required("body", Tables(&BODY)),
        optional("joint", Tables(&JOINT)),
        optional("coupling", Tables(&crate::scene::coupling::TABLE)),
        optional("force", Tables(&FORCE)),
        optional("event", Tables(&EVENT)),
        optional("contact", Tables(&CONTACT)),
    ],
    kinds: &[],
};

static TIME: TableSpec = TableSpec {
    name: "time",
    keys: &[
        required("end", Number),
        optional("step", Number),
        optional("integrator", Choice(&["auto", "adaptive", "rk4", "euler", "stewart-trinkle", "moreau"])),
        optional("rtol", Number),
    ],
    kinds: &[],
};

static SOLVER: TableSpec = TableSpec {
    name: "solver",
    keys: &[
        optional("formulation", Choice(&["recursive", "dca", "dense"])),
        optional("method", Choice(&["auto", "lemke", "gauss-seidel", "newton", "admm", "enumerate"])),
        optional("tolerance", Number),
        optional("policy", Choice(&["stop", "warn", "accept"])),
        optional("restitution", Choice(&["newton", "poisson", "energetic"])),
    ],
    kinds: &[],
};

static OUTPUT: TableSpec = TableSpec {
    name: "output",
    keys: &[
        optional("interval", Number),
        optional("every", Count),
        optional("bodies", Texts),
        optional("joints", Texts),
        optional("reactions", Texts),
        optional("actuators", Texts),
        optional("couplings", Texts),
        optional("contacts", Flag),
        optional("marker", Tables(&MARKER)),
    ],
    kinds: &[],
};

static MARKER: TableSpec = TableSpec {
    name: "output.marker",
    keys: &[required("name", Text), required("body", Text), optional("point", VECTOR)],
    kinds: &[],
};

static MATERIAL: TableSpec = TableSpec {
    name: "material",
    keys: &[
        required("name", Text),
        optional("density", Number),
        optional("friction", FRICTION_VALUE),
        optional("friction_frame", Table(&FRICTION_FRAME)),
        optional("restitution", Number),
    ],
    kinds: &[],
};

static FRICTION: TableSpec = TableSpec {
    name: "friction",
    keys: &[
        optional("mu", Number),
        optional("polygon", Count),
        optional("directions", Directions),
        optional("ellipsoid", VECTOR),
        optional("mixed", VECTOR),
        optional("polyhedron", Points),
        optional("rolling", Number),
    ],
    kinds: &[],
};

static FRICTION_FRAME: TableSpec =
    TableSpec { name: "friction_frame", keys: &[required("body", Text), required("direction", VECTOR)], kinds: &[] };

static CONTACT: TableSpec = TableSpec {
    name: "contact",
    keys: &[
        optional("bodies", Texts),
        optional("groups", Texts),
        optional("materials", Texts),
        optional("enabled", Flag),
        optional("friction", FRICTION_VALUE),
        optional("friction_frame", Table(&FRICTION_FRAME)),
        optional("restitution", Number),
    ],
    kinds: &[],
};

static POINT: TableSpec = TableSpec {
    name: "body.point",
    keys: &[required("name", Text), optional("position", VECTOR), optional("material", Text)],
    kinds: &[],
};

static BODY: TableSpec = TableSpec {
    name: "body",
    keys: &[
        required("name", Text),
        optional("mass", Number),
        optional("com", VECTOR),
        optional("inertia", Numbers(&[3, 6])),
        optional("position", VECTOR),
        optional("orientation", QUATERNION),
        optional("velocity", VECTOR),
        optional("angular_velocity", VECTOR),
        optional("frame", Tables(&FRAME)),
        optional("shape", Tables(&SHAPE)),
        optional("point", Tables(&POINT)),
        optional("group", Text),
    ],
    kinds: &[],
};

static FRAME: TableSpec = TableSpec {
    name: "body.frame",
    keys: &[required("name", Text), optional("position", VECTOR), optional("orientation", QUATERNION)],
    kinds: &[],
};

static SHAPE: TableSpec = TableSpec {
    name: "body.shape",
    keys: &[
        required(
            "kind",
            Choice(&[
                "sphere",
                "box",
                "capsule",
                "cylinder",
                "cone",
                "half-space",
                "convex-hull",
                "mesh",
                "height-field",
            ]),
        ),
        optional("position", VECTOR),
        optional("orientation", QUATERNION),
        optional("density", Number),
        optional("material", Text),
        optional("surface_velocity", VECTOR),
    ],
    kinds: &[
        kind("sphere", &[required("radius", Number)]),
        kind("box", &[required("size", VECTOR)]),
        kind("capsule", &[required("radius", Number), required("length", Number)]),
        kind("cylinder", &[required("radius", Number), required("length", Number)]),
        kind("cone", &[required("radius", Number), required("length", Number)]),
        kind("half-space", &[]),
        kind("convex-hull", &[optional("points", Points), optional("file", Text), optional("scale", Number)]),
        kind("mesh", &[required("file", Text), optional("scale", Number)]),
        kind(
            "height-field",
            &[required("size", Numbers(&[2])), required("columns", Count), required("heights", Numbers(&[]))],
        ),
    ],
};

static JOINT: TableSpec = TableSpec {
    name: "joint",
    keys: &[
        required("name", Text),
        required("kind", Choice(&JOINT_KINDS)),
        required("parent", Text),
        required("child", Text),
        optional("parent_frame", TextOrTable(&POSE)),
        optional("child_frame", TextOrTable(&POSE)),
        optional("anchor", VECTOR),
        optional("axis", VECTOR),
        optional("axis2", VECTOR),
        optional("pitch", Number),
        optional("q", Numbers(&[])),
        optional("v", Numbers(&[])),
        optional("spring", Table(&SPRING)),
        optional("damping", NumberOrNumbers),
        optional("armature", NumberOrNumbers),
        optional("lower", Limits),
        optional("upper", Limits),
        optional("restitution", Number),
        optional("friction", NumberOrNumbers),
        optional("friction_load", NumberOrNumbers),
        optional("motor", Tables(&MOTOR)),
        optional("absent", Flag),
        optional("break", Table(&BREAK)),
    ],
    kinds: &[],
};

const JOINT_KINDS: [&str; 9] =
    ["fixed", "revolute", "prismatic", "screw", "cylindrical", "universal", "spherical", "planar", "free"];

static POSE: TableSpec =
    TableSpec { name: "pose", keys: &[optional("position", VECTOR), optional("orientation", QUATERNION)], kinds: &[] };

static SPRING: TableSpec = TableSpec {
    name: "joint.spring",
    keys: &[required("stiffness", NumberOrNumbers), optional("rest", Numbers(&[]))],
    kinds: &[],
};

static MOTOR: TableSpec = TableSpec {
    name: "joint.motor",
    keys: &[required("kind", Choice(&["torque", "servo", "velocity", "motion"])), optional("coordinate", Count)],
    kinds: &[
        kind("torque", &[required("value", NumberOrTable(&SIGNAL))]),
        kind(
            "servo",
            &[
                required("target", NumberOrTable(&SIGNAL)),
                required("stiffness", Number),
                optional("damping", Number),
                optional("limit", Number),
                optional("compensate_gravity", Flag),
            ],
        ),
        kind(
            "velocity",
            &[
                required("target", NumberOrTable(&SIGNAL)),
                required("damping", Number),
                optional("limit", Number),
                optional("compensate_gravity", Flag),
            ],
        ),
        kind("motion", &[required("position", NumberOrTable(&SIGNAL))]),
    ],
};

pub(crate) static SIGNAL: TableSpec = TableSpec {
    name: "signal",
    keys: &[required("kind", Choice(&["ramp", "sine", "step", "pulse", "table", "sum"]))],
    kinds: &[
        kind("ramp", &[optional("start", Number), required("rate", Number)]),
        kind(
            "sine",
            &[
                required("amplitude", Number),
                required("angular_frequency", Number),
                optional("phase", Number),
                optional("offset", Number),
            ],
        ),
        kind("step", &[required("time", Number), optional("before", Number), required("after", Number)]),
        kind(
            "pulse",
            &[
                required("start", Number),
                required("duration", Number),
                required("value", Number),
                optional("offset", Number),
            ],
        ),
        kind("sum", &[required("terms", Tables(&SIGNAL))]),
        kind(
            "table",
            &[
                required("times", Numbers(&[])),
                required("values", Numbers(&[])),
                optional("interpolation", Choice(&["linear", "cubic"])),
            ],
        ),
    ],
};

pub(crate) const AXES: ValueSpec = Choice(&["world", "body"]);

pub(crate) static ATTACHMENT: TableSpec =
    TableSpec { name: "attachment", keys: &[required("body", Text), optional("point", VECTOR)], kinds: &[] };

static BREAK: TableSpec = TableSpec {
    name: "joint.break",
    keys: &[
        optional("force", Number),
        optional("moment", Number),
        optional("impulse", Number),
        optional("moment_impulse", Number),
    ],
    kinds: &[],
};

static EVENT: TableSpec = TableSpec {
    name: "event",
    keys: &[
        required("name", Text),
        required(
            "kind",
            Choice(&["lock", "unlock", "change", "weld", "attach", "release", "engage", "switch", "impulse"]),
        ),
        optional("time", Number),
        optional("when", Table(&CONDITION)),
        optional("after", Text),
        optional("delay", Number),
    ],
    kinds: &[
        kind(
            "lock",
            &[
                optional("joint", Text),
                optional("joints", Texts),
                optional("coordinates", Counts),
                optional("axis", VECTOR),
                optional("body", Text),
            ],
        ),
        kind("unlock", &[optional("joint", Text), optional("joints", Texts)]),
        kind(
            "change",
            &[
                required("joint", Text),
                required("to", Choice(&JOINT_KINDS)),
                optional("axis", VECTOR),
                optional("axis2", VECTOR),
                optional("pitch", Number),
            ],
        ),
        kind("weld", &[required("bodies", Texts)]),
        kind("attach", &[optional("joint", Text), optional("joints", Texts)]),
        kind(
            "release",
            &[
                optional("joint", Text),
                optional("joints", Texts),
                optional("coupling", Text),
                optional("couplings", Texts),
            ],
        ),
        kind(
            "engage",
            &[
                optional("coupling", Text),
                optional("couplings", Texts),
                optional("offset", Number),
                optional("length", Number),
            ],
        ),
        kind(
            "switch",
            &[optional("force", Text), optional("joint", Text), optional("motor", Count), required("on", Flag)],
        ),
        kind(
            "impulse",
            &[
                required("body", Text),
                optional("point", VECTOR),
                optional("vector", VECTOR),
                optional("moment", VECTOR),
                optional("axes", AXES),
            ],
        ),
    ],
};

static CONDITION: TableSpec = TableSpec {
    name: "event.when",
    keys: &[
        required(
            "kind",
            Choice(&[
                "coordinate",
                "speed",
                "distance",
                "kinetic-energy",
                "energy",
                "force",
                "moment",
                "drive",
                "impulse",
                "moment-impulse",
                "contact-force",
                "contact-impulse",
            ]),
        ),
        optional("above", Number),
        optional("below", Number),
        optional("rearm", Number),
    ],
    kinds: &[
        kind("coordinate", &[required("joint", Text), optional("coordinate", Count)]),
        kind("speed", &[required("joint", Text), optional("coordinate", Count)]),
        kind("distance", &[required("a", Table(&ATTACHMENT)), required("b", Table(&ATTACHMENT))]),
        kind("kinetic-energy", &[]),
        kind("energy", &[]),
        kind("force", &[optional("joint", Text), optional("coupling", Text)]),
        kind("moment", &[required("joint", Text)]),
        kind("drive", &[required("joint", Text), optional("coordinate", Count)]),
        kind("impulse", &[optional("joint", Text), optional("coupling", Text)]),
        kind("moment-impulse", &[required("joint", Text)]),
        kind("contact-force", &[required("bodies", Texts)]),
        kind("contact-impulse", &[required("bodies", Texts)]),
    ],
};
