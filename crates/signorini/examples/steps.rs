//! Steps a scene and prints what each step cost.
use signorini::step::Simulation;
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let scene: signorini::scene::Scene = toml::from_str(&text).unwrap();
    let n: usize = args[2].parse().unwrap();
    let every: usize = args[3].parse().unwrap();
    let mut s = Simulation::from_scene(&scene).unwrap();
    let (mut total, mut worst, mut its) = (0.0, 0.0f64, 0);
    for k in 0..n {
        let t = Instant::now();
        let r = s.advance(1e9).unwrap();
        let dt = t.elapsed().as_secs_f64() * 1e6;
        total += dt;
        its += r.iterations;
        worst = worst.max(r.residual.rel);
        if k % every == 0 {
            println!(
                "{k} {:.0} us contacts {} its {} rel {:.1e} floor {:.1e} unsolved {} pen {:.1e} T {:.3e}",
                dt, r.contacts, r.iterations, r.residual.rel, r.residual.floor, r.is_unsolved, r.penetration, r.kinetic
            );
        }
    }
    println!("mean {:.1} us, iterations {:.1}, worst {worst:.1e}", total / n as f64, its as f64 / n as f64);
}
