//! Scenes in which exactly one thing is wrong: sort, key path, part of the message, text.

use signorini::scene::FindingKind::{self, *};

type Case = (FindingKind, &'static str, &'static str, &'static str);

mod couplings;
mod events;
mod meaning;
pub use couplings::COUPLINGS;
pub use events::EVENTS;
pub use meaning::MEANING;

#[rustfmt::skip]
pub const STRUCTURE: [Case; 26] = [
    (Syntax, "", "key with no value", "{TIME}[[body]]\nname # <-\n"),
    (Syntax, "", "duplicate key", "{TIME}end = 2 # <-\n{ARM}"),
    (UnknownKey, "gravty", "did you mean `gravity`?", "gravty = [0, 0, 1] # <-\n{TIME}{ARM}"),
    (UnknownKey, "time.stop", "allowed: `end`, `step`, `integrator`, `rtol`", "{TIME}stop = 3 # <-\n{ARM}"),
    (UnknownKey, "body[0].masss", "did you mean `mass`?", "{TIME}{ARM}masss = 1 # <-\n"),
    (UnknownKey, "body[0].shape[0].raduis", "did you mean `radius`?", "{TIME}{BALL}raduis = 3 # <-\ndensity = 1\n"),
    (UnknownKey, "joint[0].child_frame.pos", "`position`", "{TIME}{ARM}{JOINT}kind = \"fixed\"\nchild_frame = { pos = [0, 0, 0] } # <-\n"),
    (UnknownKey, "joint[0].limits", "`lower`, `upper`", "{TIME}{ARM}{JOINT}kind = \"revolute\"\nlimits = [0, 1] # <-\n"),
    (UnknownKey, "contact[0].frction", "did you mean `friction`?", "{TIME}{ARM}[[contact]]\nbodies = [\"*\", \"*\"]\nfrction = 1 # <-\n"),
    (WrongType, "output.contacts", "true or false", "{TIME}[output]\ncontacts = 1 # <-\n{ARM}"),
    (WrongType, "body[0].mass", "found string \"1\"; allowed: a finite number", "{TIME}[[body]]\nname = \"a\"\ninertia = [1, 1, 1]\nmass = \"1\" # <-\n"),
    (WrongType, "body", "a list of tables (`[[body]]`)", "{TIME}[body] # <-\nname = \"a\"\n"),
    (WrongType, "body[0]", "found integer 3", "body = [3] # <-\n{TIME}"),
    (WrongType, "gravity[1]", "found boolean true", "gravity = [0, true, 0] # <-\n{TIME}{ARM}"),
    (WrongType, "joint[0].motor[0].value", "a number or a table (signal)", "{TIME}{ARM}{JOINT}kind = \"revolute\"\nmotor = [{ kind = \"torque\", value = [1] }] # <-\n"),
    (WrongType, "output.bodies", "a list of strings", "{TIME}[output]\nbodies = \"arm\" # <-\n{ARM}"),
    (WrongLength, "gravity", "found 2 entries; allowed: a list of 3 numbers", "gravity = [0, 0] # <-\n{TIME}{ARM}"),
    (WrongLength, "body[0].inertia", "3 or 6 numbers", "{TIME}[[body]]\nname = \"a\"\nmass = 1\ninertia = [1, 1, 1, 1] # <-\n"),
    (WrongLength, "body[0].shape[0].points[1]", "found 4 entries", "{TIME}[[body]]\nname = \"a\"\nmass = 1\n[[body.shape]]\nkind = \"convex-hull\"\npoints = [[0, 0, 0], [1, 2, 3, 4]] # <-\n"),
    (Missing, "time.end", "this key is required", "[time] # <-\nstep = 1\n{ARM}"),
    (Missing, "joint[0].child", "(joint `j`)", "{TIME}{ARM}[[joint]] # <-\nname = \"j\"\nkind = \"fixed\"\nparent = \"arm\"\n"),
    (NotFinite, "body[0].com[2]", "found nan", "{TIME}{ARM}com = [0, 0, nan] # <-\n"),
    (NotFinite, "gravity[0]", "found -inf", "gravity = [-inf, 0, 0] # <-\n{TIME}{ARM}"),
    (NotFinite, "gravity[0]", "found 1e400", "gravity = [1e400, 0, 0] # <-\n{TIME}{ARM}"),
    (OutOfRange, "output.every", "an integer from 0 on", "{TIME}[output]\nevery = -1 # <-\n{ARM}"),
    (UnknownChoice, "joint[0].kind", "did you mean `revolute`?", "{TIME}{ARM}{JOINT}kind = \"Revolute\" # <-\n"),
];
