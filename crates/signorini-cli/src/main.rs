//! The `signorini` command.

fn main() {}
