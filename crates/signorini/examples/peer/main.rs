//! The native side of `cases/other_engines/peer_signorini.py`.
//!
//! Reads one scene in the harness's own JSON (see `cases/other_engines/scenes.py`) and builds it. Without further arguments it times
//! forward dynamics at the initial state and prints one line of JSON. With `steps` it answers commands on standard input, one line
//! each:
//!
//! ```text
//! step N        CPU seconds spent inside N steps
//! state         {"x": [[px, py, pz, qw, qx, qy, qz], ..], "v": [[vx, vy, vz, wx, wy, wz], ..]}, velocity at the body origin
//! ncon          number of contacts that push
//! contacts      [[gap, fn, ftx, fty, ftz, vtx, vty, vtz], ..]
//! certificate   largest contact residual of all steps so far, steps that were not solved, iterations
//! quit
//! ```
//!
//!     cargo run --release --example peer -- T1_chain10.json
//!     cargo run --release --example peer -- T2a_box.json steps --tolerance 1e-8 --integrator moreau

mod forward;
mod scene;
mod steps;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: peer SCENE.json [steps [--name value]..]")?;
    let peer: scene::PeerScene = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    match arguments.next().as_deref() {
        None => forward::run(&peer),
        Some("steps") => steps::serve(&peer, &steps::Wishes::read(arguments)?),
        Some(other) => Err(format!("{other} is not known").into()),
    }
}
