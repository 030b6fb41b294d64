//! The viewer, put into the binary by `build.rs`: the page into which a recording's numbers go.

/// The page; none where the command was built without Node.
pub const TEMPLATE: Option<&str> = include!(concat!(env!("OUT_DIR"), "/viewer.rs"));
