//! Cases about couplings.

use super::Case;
use signorini::scene::FindingKind::*;

#[rustfmt::skip]
pub const COUPLINGS: [Case; 12] = [
    (UnknownName, "coupling[0].joints[1]", "did you mean `hinge`?", "{TIME}{ARM}{HINGE}[[body]]\nname = \"leg\"\nmass = 1\ninertia = [1, 1, 1]\n[[joint]]\nname = \"knee\"\nkind = \"revolute\"\nparent = \"arm\"\nchild = \"leg\"\n[[coupling]]\nname = \"c\"\nkind = \"coupler\"\nratios = [1, 2]\njoints = [\"knee\", \"hing\"] # <-\n"),
    (Missing, "coupling[0].joints", "two or more", "{TIME}{ARM}{HINGE}[[body]]\nname = \"leg\"\nmass = 1\ninertia = [1, 1, 1]\n[[joint]]\nname = \"knee\"\nkind = \"revolute\"\nparent = \"arm\"\nchild = \"leg\"\n[[coupling]]\nname = \"c\"\nkind = \"coupler\"\nratios = [1]\njoints = [\"knee\"] # <-\n"),
    (DuplicateName, "coupling[0].joints[1]", "named twice", "{TIME}{ARM}{HINGE}[[body]]\nname = \"leg\"\nmass = 1\ninertia = [1, 1, 1]\n[[joint]]\nname = \"knee\"\nkind = \"revolute\"\nparent = \"arm\"\nchild = \"leg\"\n[[coupling]]\nname = \"c\"\nkind = \"coupler\"\nratios = [1, 2]\njoints = [\"knee\", \"knee\"] # <-\n"),
    (WrongLength, "coupling[0].ratios", "one ratio for each joint", "{TIME}{ARM}{HINGE}[[body]]\nname = \"leg\"\nmass = 1\ninertia = [1, 1, 1]\n[[joint]]\nname = \"knee\"\nkind = \"revolute\"\nparent = \"arm\"\nchild = \"leg\"\n[[coupling]]\nname = \"c\"\nkind = \"coupler\"\njoints = [\"knee\", \"hinge\"]\nratios = [1] # <-\n"),
    (OutOfRange, "coupling[0].ratios[1]", "not coupled", "{TIME}{ARM}{HINGE}[[body]]\nname = \"leg\"\nmass = 1\ninertia = [1, 1, 1]\n[[joint]]\nname = \"knee\"\nkind = \"revolute\"\nparent = \"arm\"\nchild = \"leg\"\n[[coupling]]\nname = \"c\"\nkind = \"coupler\"\njoints = [\"knee\", \"hinge\"]\nratios = [1, 0] # <-\n"),
    (OutOfRange, "coupling[0].coordinates[0]", "an integer below 1", "{TIME}{ARM}{HINGE}[[body]]\nname = \"leg\"\nmass = 1\ninertia = [1, 1, 1]\n[[joint]]\nname = \"knee\"\nkind = \"revolute\"\nparent = \"arm\"\nchild = \"leg\"\n[[coupling]]\nname = \"c\"\nkind = \"coupler\"\njoints = [\"knee\", \"hinge\"]\nratios = [1, 2]\ncoordinates = [1, 0] # <-\n"),
    (Missing, "coupling[0].break", "`force` or `impulse`", "{TIME}{ARM}{HINGE}[[body]]\nname = \"leg\"\nmass = 1\ninertia = [1, 1, 1]\n[[joint]]\nname = \"knee\"\nkind = \"revolute\"\nparent = \"arm\"\nchild = \"leg\"\n[[coupling]]\nname = \"c\"\nkind = \"coupler\"\njoints = [\"knee\", \"hinge\"]\nratios = [1, 2]\nbreak = {} # <-\n"),
    (SameBody, "coupling[0].b.body", "another body", "{TIME}{ARM}{HINGE}[[coupling]]\nname = \"c\"\nkind = \"distance\"\na = { body = \"arm\" }\nb = { body = \"arm\", point = [1, 0, 0] } # <-\n"),
    (UnknownName, "coupling[0].a.body", "did you mean `arm`?", "{TIME}{ARM}{HINGE}[[coupling]]\nname = \"c\"\nkind = \"distance\"\nb = { body = \"ground\" }\na = { body = \"amr\" } # <-\n"),
    (OutOfRange, "coupling[0].length", "must be positive", "{TIME}{ARM}{HINGE}[[coupling]]\nname = \"c\"\nkind = \"distance\"\na = { body = \"arm\" }\nb = { body = \"ground\" }\nlength = 0 # <-\n"),
    (Axis, "coupling[0].axis", "length zero", "{TIME}{ARM}{HINGE}[[coupling]]\nname = \"c\"\nkind = \"revolute-spherical\"\na = { body = \"ground\" }\nb = { body = \"arm\" }\naxis = [0, 0, 0] # <-\n"),
    (Misplaced, "coupling[0].axis", "does not belong to kind `distance`", "{TIME}{ARM}{HINGE}[[coupling]]\nname = \"c\"\nkind = \"distance\"\na = { body = \"ground\" }\nb = { body = \"arm\" }\naxis = [0, 0, 1] # <-\n"),
];
