//! Scenes whose contact problems are stored: bundled ones, and some that are written here.

use std::fmt::Write as _;

/// A sequence of problems: its name, a scene, the first and last time, and how many problems of it are kept.
pub struct Source {
    pub name: &'static str,
    pub scene: String,
    pub from: f64,
    pub until: f64,
    pub most: usize,
}

const HEAD: &str = "gravity = [0, 0, -9.81]\n[[material]]\nname = \"stuff\"\nfriction = 0.4\ndensity = 700\n\
    [[body]]\nname = \"ground\"\n[[body.shape]]\nkind = \"half-space\"\nmaterial = \"stuff\"\n";

/// All sequences, from the folder of bundled scenes.
pub fn sources(folder: &std::path::Path) -> Vec<Source> {
    let bundled = |name: &str| std::fs::read_to_string(folder.join(name).join("scene.toml")).unwrap_or_default();
    let source = |name, scene, from, until, most| Source { name, scene, from, until, most };
    vec![
        source("spheres, moving", bundled("spheres-in-box"), 0.2, 0.8, 120),
        source("spheres, jammed", bundled("spheres-in-box"), 0.8, 2.4, 120),
        source("spheres, settled", bundled("spheres-in-box"), 3.0, 4.0, 60),
        source("stack of ten", bundled("box-stack"), 0.0, 3.0, 60),
        source("twenty stacks", stacks(20, 6), 0.0, 0.3, 60),
        source("chain", bundled("chain-on-floor"), 0.0, 0.8, 120),
        source("dominoes", bundled("dominoes"), 0.0, 2.0, 200),
        source("boxes in a bin", bin(24), 0.1, 0.9, 120),
        source("legged machine", legs(), 0.1, 1.2, 200),
    ]
}

fn time(step: f64) -> String {
    format!("\n[time]\nend = 10\nstep = {step}\n")
}

/// Stacks of boxes, some of them pushed sideways at the start.
fn stacks(n: usize, height: usize) -> String {
    let mut text = HEAD.to_owned();
    for k in 0..n {
        for level in 0..height {
            let (x, z) = (2.0 * k as f64, 0.25 + 0.5 * level as f64);
            let speed = if level + 1 == height && k % 4 == 0 { 0.4 } else { 0.0 };
            let _ = write!(
                text,
                "[[body]]\nname = \"box{k}_{level}\"\nposition = [{x}, 0, {z}]\nvelocity = [{speed}, 0, 0]\n\
                 shape = [{{ kind = \"box\", size = [0.5, 0.5, 0.5], material = \"stuff\" }}]\n"
            );
        }
    }
    text + &time(5e-3)
}

/// Boxes, each turned a little, fall between four walls.
fn bin(n: usize) -> String {
    let mut text = HEAD.to_owned();
    for (at, size) in
        [([-0.5, 0.0], [0.1, 1.1]), ([0.5, 0.0], [0.1, 1.1]), ([0.0, -0.5], [1.1, 0.1]), ([0.0, 0.5], [1.1, 0.1])]
    {
        let ([x, y], [a, b]) = (at, size);
        let _ = write!(
            text,
            "[[body.shape]]\nkind = \"box\"\nsize = [{a}, {b}, 2]\nposition = [{x}, {y}, 1]\nmaterial = \"stuff\"\n"
        );
    }
    for k in 0..n {
        let (level, place) = (k / 4, k % 4);
        let (x, y) = (0.22 * (place % 2) as f64 - 0.11, 0.22 * (place / 2) as f64 - 0.11);
        let (z, half) = (0.15 + 0.3 * level as f64, 0.05 + 0.02 * (k % 7) as f64);
        let (c, s) = (f64::cos(half), f64::sin(half) / 3f64.sqrt());
        let _ = write!(
            text,
            "[[body]]\nname = \"box{k}\"\nposition = [{x}, {y}, {z}]\norientation = [{c}, {s}, {s}, {s}]\n\
             shape = [{{ kind = \"box\", size = [0.16, 0.14, 0.12], material = \"stuff\" }}]\n"
        );
    }
    text + &time(2e-3)
}

/// A trunk with seven limbs of two links: twenty speeds, dropped.
fn legs() -> String {
    let mut text = HEAD.to_owned()
        + "[[body]]\nname = \"trunk\"\nposition = [0, 0, 0.6]\norientation = [0.98, 0.14, 0.14, 0]\n\
           shape = [{ kind = \"box\", size = [0.6, 0.4, 0.15], material = \"stuff\" }]\n";
    for k in 0..7 {
        let angle = 0.9 * k as f64;
        let (x, y) = (0.3 * angle.cos(), 0.2 * angle.sin());
        for (part, parent, at) in [("a", "trunk".to_owned(), [x, y, 0.0]), ("b", format!("a{k}"), [0.0, 0.0, -0.14])] {
            let _ = write!(
                text,
                "[[body]]\nname = \"{part}{k}\"\n\
                 shape = [{{ kind = \"capsule\", radius = 0.025, length = 0.14, material = \"stuff\" }}]\n\
                 [[joint]]\nname = \"{part}{k}\"\nkind = \"revolute\"\nparent = \"{parent}\"\nchild = \"{part}{k}\"\n\
                 axis = [{}, {}, 0]\nparent_frame = {{ position = [{}, {}, {}] }}\nchild_frame = {{ position = [0, 0, 0.07] }}\n",
                angle.sin(),
                -angle.cos(),
                at[0],
                at[1],
                if part == "a" { at[2] } else { -0.07 },
            );
        }
    }
    text + &time(1e-3)
}
