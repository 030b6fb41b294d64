//! When events happen: times, conditions, other events, latches, breaking.

use super::*;
use signorini::scene::Integrator;

/// A unit mass on a slider along x with a spring of stiffness ω², let go at 1 with no speed: q = cos ωt.
fn oscillator(omega: f64, events: &str) -> Scene {
    let text = r#"
        time = { end = 10 }
        body = [{ name = "mass", mass = 1, inertia = [1, 1, 1] }]
        joint = [{ name = "slide", kind = "prismatic", parent = "ground", child = "mass", axis = [1, 0, 0], q = [1],
                   spring = { stiffness = STIFFNESS } }]
        force = [{ name = "push", kind = "force", body = "mass", vector = [0, 0, 1] }]
    "#;
    scene(&format!("{}\n{events}", text.replace("STIFFNESS", &format!("{:?}", omega * omega))))
}

/// An event that changes nothing about the motion, so that one run shows many.
fn mark(name: &str, trigger: &str) -> String {
    format!("[[event]]\nname = \"{name}\"\nkind = \"unlock\"\njoint = \"slide\"\n{trigger}\n")
}

fn times(reports: &[EventReport], name: &str) -> Vec<f64> {
    reports.iter().filter(|r| r.name == name).map(|r| r.time).collect()
}

#[test]
fn times_are_hit_exactly() {
    for (integrator, step) in [("adaptive", ""), ("rk4", "step = 0.01\n"), ("euler", "step = 0.01\n")] {
        let events: String = [0.0, 0.07, 0.1, 0.30000000000000004, 1.0 / 3.0, 1.0]
            .iter()
            .map(|t: &f64| mark(&format!("at-{}", t.to_bits()), &format!("time = {t:?}")))
            .collect();
        let mut scene = oscillator(2.0, &events);
        scene.time.integrator = match integrator {
            "adaptive" => Integrator::Adaptive,
            "rk4" => Integrator::Rk4,
            _ => Integrator::Euler,
        };
        scene.time.step = (!step.is_empty()).then_some(0.01);
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        let mut found = Vec::new();
        // Output times among them, some of which differ from an event's time by one rounding only.
        for k in 1..=10 {
            found.extend(run(&mut simulation, 0.1 * f64::from(k)));
        }
        let found: Vec<f64> = found.iter().map(|r| r.time).collect();
        assert_eq!(found, [0.0, 0.07, 0.1, 0.30000000000000004, 1.0 / 3.0, 1.0], "{integrator}");
    }
}

/// The next representable number.
fn next_up(x: f64) -> f64 {
    f64::from_bits(x.to_bits() + 1)
}

#[test]
fn times_one_rounding_apart() {
    for time in [0.5, 3.0] {
        let events = mark("a", &format!("time = {time:?}")) + &mark("b", &format!("time = {:?}", next_up(time)));
        let mut simulation = Simulation::from_scene(&oscillator(2.0, &events)).unwrap();
        let found: Vec<f64> = run(&mut simulation, 4.0).iter().map(|r| r.time).collect();
        assert_eq!(found, [time, next_up(time)]);
    }
}

#[test]
fn crossings_are_as_exact_as_the_motion() {
    let omega = 3.0;
    let exact = 0.5_f64.acos() / omega;
    let events = mark("cross", "when = { kind = \"coordinate\", joint = \"slide\", below = 0.5 }");
    let error = |rtol: f64| {
        let mut scene = oscillator(omega, &events);
        scene.time.rtol = Some(rtol);
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        let mut longest = 0.0_f64;
        while simulation.events().is_empty() {
            longest = longest.max(simulation.advance(10.0).unwrap().step);
        }
        ((simulation.events()[0].time - exact).abs(), longest)
    };
    let (coarse, step) = error(1e-4);
    let (middle, _) = error(1e-7);
    let (fine, _) = error(1e-11);
    println!("errors {coarse:.1e} {middle:.1e} {fine:.1e}, step {step:.2}");
    // The method's error over a step or two, at a speed of order ω: far below the step, and falling with the tolerance.
    assert!(coarse < 1e-3 * step && middle < 1e-7 && fine < 1e-11, "{coarse:e} {middle:e} {fine:e}");
}

/// Free fall is a polynomial that the method integrates without error: what is left is the resolution of time.
#[test]
fn free_fall_to_the_resolution_of_time() {
    let scene = scene(
        r#"
        gravity = [0, 0, -9.81]
        time = { end = 2 }
        body = [{ name = "stone", mass = 1, inertia = [1, 1, 1], velocity = [0.3, 0, 0] }]
        [[event]]
        name = "floor"
        kind = "impulse"
        body = "stone"
        vector = [0, 0, 10]
        when = { kind = "distance", a = { body = "stone" }, b = { body = "ground" }, above = 2 }
        "#,
    );
    for integrator in [Integrator::Adaptive, Integrator::Rk4] {
        let mut scene = scene.clone();
        scene.time.integrator = integrator;
        scene.time.step = (integrator == Integrator::Rk4).then_some(0.5);
        let reports = run(&mut Simulation::from_scene(&scene).unwrap(), 2.0);
        // (0.3 t)² + (g t²/2)² = 4.
        let (a, b) = (4.905_f64 * 4.905, 0.09_f64);
        let exact = ((-b + (b * b + 16.0 * a).sqrt()) / (2.0 * a)).sqrt();
        assert_eq!(reports.len(), 1);
        // A few roundings of positions of size two, at six per second.
        assert!((reports[0].time - exact).abs() < 4e-15, "{integrator:?} {:e}", reports[0].time - exact);
    }
}

#[test]
fn a_crossing_that_returns_within_a_step() {
    // Speed −ω sin ωt is below −0.99 ω for a short while around a quarter of the period.
    let omega = 2.0;
    let events = mark("fast", "when = { kind = \"speed\", joint = \"slide\", below = -1.98 }");
    let mut simulation = Simulation::from_scene(&oscillator(omega, &events)).unwrap();
    let mut longest = 0.0_f64;
    while simulation.events().is_empty() {
        longest = longest.max(simulation.advance(2.0).unwrap().step);
    }
    let exact = 0.99_f64.asin() / omega;
    let while_true = std::f64::consts::PI / omega - 2.0 * exact;
    println!("true for {while_true:.3}, steps up to {longest:.3}");
    assert!(longest > while_true, "the step is longer than the condition is true: {longest} {while_true}");
    assert!((simulation.events()[0].time - exact).abs() < 1e-9);
}

#[test]
fn two_crossings_in_one_step_come_in_order() {
    let events = mark("late", "when = { kind = \"coordinate\", joint = \"slide\", below = 0.4 }")
        + &mark("early", "when = { kind = \"coordinate\", joint = \"slide\", below = 0.5 }")
        + &mark("between", "when = { kind = \"speed\", joint = \"slide\", below = -0.88 }");
    // A step of 0.7 covers all three.
    let mut scene = oscillator(1.0, &events);
    scene.time.integrator = Integrator::Rk4;
    scene.time.step = Some(0.7);
    let found: Vec<(String, f64)> =
        run(&mut Simulation::from_scene(&scene).unwrap(), 2.0).into_iter().map(|r| (r.name, r.time)).collect();
    let names: Vec<&str> = found.iter().map(|(n, _)| n.as_str()).collect();
    assert_eq!(names, ["early", "between", "late"]);
    // RK4 with a step of 0.7 is good to a few thousandths.
    for ((_, time), exact) in found.iter().zip([0.5_f64.acos(), 0.88_f64.asin(), 0.4_f64.acos()]) {
        assert!((time - exact).abs() < 5e-3, "{time} {exact}");
    }
}

#[test]
fn a_latch_with_hysteresis() {
    let latch = mark("latch", "when = { kind = \"coordinate\", joint = \"slide\", below = 0.0, rearm = 0.5 }");
    let once = mark("once", "when = { kind = \"coordinate\", joint = \"slide\", below = 0.0 }");
    let far = mark("far", "when = { kind = \"coordinate\", joint = \"slide\", below = 0.0, rearm = 1.5 }");
    let omega = 5.0;
    let reports = run(&mut Simulation::from_scene(&oscillator(omega, &(latch + &once + &far))).unwrap(), 10.0);
    let period = std::f64::consts::TAU / omega;
    let found = times(&reports, "latch");
    assert_eq!(found.len(), 8, "{found:?}");
    for (k, time) in found.iter().enumerate() {
        // rtol 1e-9 per step over eight periods.
        assert!((time - (k as f64 + 0.25) * period).abs() < 1e-6, "{time}");
    }
    assert_eq!(times(&reports, "once").len(), 1);
    assert_eq!(times(&reports, "far").len(), 1, "it never comes back so far");
}

#[test]
fn after_and_delay() {
    let events = mark("first", "time = 0.25")
        + &mark("at-once", "after = \"first\"")
        + &mark("third", "after = \"at-once\"\ndelay = 0.5")
        + &mark("start", "when = { kind = \"coordinate\", joint = \"slide\", above = 0.9 }");
    let reports = run(&mut Simulation::from_scene(&oscillator(1.0, &events)).unwrap(), 1.0);
    let found: Vec<(&str, f64)> = reports.iter().map(|r| (r.name.as_str(), r.time)).collect();
    // What is true from the start happens at the start.
    assert_eq!(found, [("start", 0.0), ("first", 0.25), ("at-once", 0.25), ("third", 0.75)]);
}

/// A blow makes a speed jump over a threshold: the condition comes true at the jump, not a step later.
#[test]
fn a_jump_triggers_at_the_jump() {
    let events = r#"
        [[event]]
        name = "blow"
        kind = "impulse"
        body = "mass"
        vector = [7, 0, 0]
        time = 0.2
        [[event]]
        name = "stop"
        kind = "lock"
        joint = "slide"
        when = { kind = "speed", joint = "slide", above = 5 }
    "#;
    let mut simulation = Simulation::from_scene(&oscillator(1.0, events)).unwrap();
    let reports = run(&mut simulation, 1.0);
    assert_eq!(reports.iter().map(|r| (r.name.as_str(), r.time)).collect::<Vec<_>>(), [("blow", 0.2), ("stop", 0.2)]);
    let gained = reports[0].velocity_after["slide"][0] - reports[0].velocity_before["slide"][0];
    assert!((gained - 7.0).abs() < 1e-14);
    assert_eq!(reports[1].impulses["slide"][3], -reports[1].velocity_before["slide"][0]);
    assert!((observe(&mut simulation).joint_q[0] - 0.2_f64.cos()).abs() < 1e-9);
}

/// Energy and kinetic energy of the oscillator are known functions of time.
#[test]
fn energies_as_conditions() {
    let omega = 2.0;
    let events = mark("half", "when = { kind = \"kinetic-energy\", above = 1.0 }")
        + &mark("never", "when = { kind = \"energy\", above = 2.1 }")
        + "[[event]]\nname = \"hit\"\nkind = \"impulse\"\nbody = \"mass\"\nvector = [-3, 0, 0]\ntime = 1.0\n"
        + &mark("more", "when = { kind = \"energy\", above = 3.0 }");
    let reports = run(&mut Simulation::from_scene(&oscillator(omega, &events)).unwrap(), 1.5);
    // ½ω² sin² ωt = 1.
    assert!((times(&reports, "half")[0] - 0.5_f64.sqrt().asin() / omega).abs() < 1e-9);
    let found: Vec<&str> = reports.iter().map(|r| r.name.as_str()).collect();
    let jump = reports.iter().find(|r| r.name == "hit").unwrap().kinetic_energy;
    assert!(jump.after > jump.before);
    assert_eq!(found, ["half", "hit", "never", "more"]);
    assert_eq!(times(&reports, "more"), [1.0]);
}

#[test]
fn switching_a_load() {
    let events = "[[event]]\nname = \"off\"\nkind = \"switch\"\nforce = \"push\"\non = false\ntime = 0.5\n\
                  [[event]]\nname = \"again\"\nkind = \"switch\"\nforce = \"push\"\non = false\ntime = 0.6\n\
                  [[event]]\nname = \"on\"\nkind = \"switch\"\nforce = \"push\"\non = true\ntime = 1.0\n";
    let mut scene = oscillator(1.0, events);
    // Along the slider, so that it acts.
    scene.force[0] = signorini::scene::Force::Force {
        name: "push".into(),
        body: "mass".into(),
        point: None,
        vector: [1.0, 0.0, 0.0],
        axes: signorini::scene::Axes::World,
        signal: None,
    };
    let mut simulation = Simulation::from_scene(&scene).unwrap();
    let reports = run(&mut simulation, 1.5);
    assert_eq!(reports.len(), 3);
    assert!(reports[1].notes[0].contains("already") && reports[0].notes.is_empty());
    // q″ = f − q, f = 1, 0, 1: at rest at 1 until 0.5, then cos(t − 0.5), then about 1 again.
    let (q, v) = (0.5_f64.cos(), -(0.5_f64.sin()));
    let exact = 1.0 + (q - 1.0) * 0.5_f64.cos() + v * 0.5_f64.sin();
    assert!((observe(&mut simulation).joint_q[0] - exact).abs() < 1e-9);
}

/// A mass hangs on a fixed joint; a load on it grows linearly. The joint breaks when what it transmits reaches the threshold.
#[test]
fn breaking_by_force() {
    let scene = scene(
        r#"
        gravity = [0, 0, -10]
        time = { end = 2 }
        body = [{ name = "weight", mass = 2, inertia = [1, 1, 1] }]
        [[joint]]
        name = "hook"
        kind = "fixed"
        parent = "ground"
        child = "weight"
        break = { force = 50 }
        [[force]]
        name = "pull"
        kind = "force"
        body = "weight"
        vector = [0, 0, -1]
        signal = { kind = "table", times = [0, 2], values = [0, 80] }
        "#,
    );
    let mut simulation = Simulation::from_scene(&scene).unwrap();
    let reports = run(&mut simulation, 1.0);
    assert_eq!(reports.len(), 1);
    // 20 + 40 t = 50.
    assert!((reports[0].time - 0.75).abs() < 1e-14, "{}", reports[0].time);
    assert_eq!((reports[0].kind.as_str(), reports[0].name.as_str()), ("break", "break:hook:force"));
    // It falls from then on: a = −10 − 20 t.
    let fall = |t: f64| {
        5.0 * (t - 0.75).powi(2) + 10.0 / 3.0 * (t.powi(3) - 0.75_f64.powi(3)) - 10.0 * 0.75 * 0.75 * (t - 0.75)
    };
    assert!((observe(&mut simulation).bodies[0].position[2] + fall(1.0)).abs() < 1e-10);
}

#[test]
fn breaking_by_impulse() {
    let text = |size: f64| {
        format!(
            r#"
            time = {{ end = 2 }}
            body = [{{ name = "weight", mass = 2, inertia = [1, 1, 1] }}]
            joint = [{{ name = "hook", kind = "fixed", parent = "ground", child = "weight", break = {{ impulse = 3 }} }}]
            [[event]]
            name = "blow"
            kind = "impulse"
            body = "weight"
            vector = [0, {size:?}, 0]
            time = 0.5
            "#
        )
    };
    let mut weak = Simulation::from_scene(&scene(&text(2.9))).unwrap();
    assert_eq!(run(&mut weak, 1.0).len(), 1);
    let mut strong = Simulation::from_scene(&scene(&text(3.1))).unwrap();
    let reports = run(&mut strong, 1.0);
    let found: Vec<(&str, f64)> = reports.iter().map(|r| (r.name.as_str(), r.time)).collect();
    assert_eq!(found, [("blow", 0.5), ("break:hook:impulse", 0.5)]);
    assert!((reports[0].impulses["hook"][4] + 3.1).abs() < 1e-15);
    // The joint took the blow before it broke: the weight stays at rest, as thresholds on impulses mean it.
    assert_eq!(observe(&mut strong).bodies[0].velocity, [0.0; 3]);
}
