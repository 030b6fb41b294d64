//! Friction laws in motion: limit surfaces, ellipses, polygons and rolling friction from the scene to the end of the run, against closed forms,
//! under both schemes and all formulations.
// The exception for tests does not reach their helper functions.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod contact_support;
use contact_support::*;
use signorini::scene::read::read_str;
use signorini::scene::{Formulation, Integrator, Scene};
use signorini::state::State;
use signorini::step::{Mode, Options, Simulation, build};

const SCHEMES: [Integrator; 2] = [Integrator::StewartTrinkle, Integrator::Moreau];
const FORMULATIONS: [Formulation; 3] = [Formulation::Recursive, Formulation::Dca, Formulation::Dense];

/// Points that slide on a plane: mass, moment about the normal, friction as TOML, velocity along x and y and about z.
fn slider(name: &str, [m, i]: [f64; 2], [x, y, spin]: [f64; 3], material: &str) -> String {
    format!(
        "[[body]]\nname = \"{name}\"\nmass = {m}\ninertia = [{i}, {i}, {i}]\nvelocity = [{x}, {y}, 0]\n\
         angular_velocity = [0, 0, {spin}]\npoint = [{{ name = \"p\", material = \"{material}\" }}]\n"
    )
}

fn on_a_plane(materials: &str, bodies: &str) -> Scene {
    scene(&format!(
        "gravity = [0, 0, -9.81]\ntime = {{ end = 1, step = 1e-3 }}\n{materials}\n\
         [[body]]\nname = \"ground\"\nshape = [{{ kind = \"half-space\" }}]\n{bodies}\n"
    ))
}

/// Where a slider comes to rest, the angle that it has turned by, and when it is first at rest.
fn rest(scene: &Scene, step: f64, end: f64) -> ([f64; 3], f64) {
    let mut simulation = start(scene, step);
    let (mut stop, mut angle) = (f64::INFINITY, 0.0);
    let mut last = observe(&mut simulation).bodies[0].orientation;
    while simulation.state().time < end {
        simulation.advance(end).unwrap();
        let contact = simulation.contacts()[0];
        if contact.mode == Mode::Stick && stop.is_infinite() {
            stop = simulation.state().time;
            // What slides and what turns comes to rest in one step.
            let fast = |x: f64| x.abs() > 1e-8;
            assert!(!contact.velocity.into_iter().chain(contact.turn).any(fast), "{contact:?}");
        }
        let now = observe(&mut simulation).bodies[0].orientation;
        angle += angle_between(last, now);
        last = now;
    }
    let [x, y, _] = observe(&mut simulation).bodies[0].position;
    ([x, y, angle], stop)
}

/// A disc slides and spins: way, angle and time to rest tend to the closed form, at first order.
#[test]
fn discs_come_to_rest_as_in_the_closed_form() {
    let Reference(reference) = Reference::read("limit_surface_disc");
    for case in reference["cases"].as_array().unwrap() {
        let number = |key: &str| case[key].as_f64().unwrap();
        let (e, v) = (numbers(&case["e_t_o_r"]), numbers(&case["v0_t_o_r"]));
        let material = format!(
            "material = [{{ name = \"m\", friction = {{ ellipsoid = {e:?}, mu = {} }}, friction_frame = {{ body = \"ground\", direction = [1, 0, 0] }} }}]",
            number("mu")
        );
        let mut scene = on_a_plane(&material, &slider("disc", [number("m"), number("I")], [v[0], v[1], v[2]], "m"));
        let (way, stop) = (numbers(&case["distance_t_o"]), number("stop_time"));
        let expected = [way[0], way[1], number("angle_turned")];
        for scheme in SCHEMES {
            scene.time.integrator = scheme;
            let mut errors: [Vec<(f64, f64)>; 3] = Default::default();
            for step in [4e-3, 2e-3, 1e-3, 5e-4] {
                let (found, stopped) = rest(&scene, step, 1.1 * stop);
                for (k, errors) in errors.iter_mut().enumerate() {
                    errors.push((step, (found[k] - expected[k]).abs() / expected[k].abs()));
                }
                // Velocities at the end of a step are those of its end; rest is seen in the step in which it begins.
                assert!((stopped - stop).abs() <= 2.0 * step, "{scheme:?} {step}: {stopped} {stop}");
            }
            println!("{} {scheme:?}: {errors:?}", case["name"]);
            for errors in errors {
                let last = errors[errors.len() - 1].1;
                assert!(last < 1e-2, "{scheme:?} {errors:?}");
                // First order, or better where a scheme is.
                assert!(slope(&errors) > 0.85, "{scheme:?} {errors:?}");
            }
        }
    }
}

/// While a disc with e_r = R/√2 slides, the ratio of its velocities stays what it was.
#[test]
fn the_ratio_stays_frozen_where_the_radius_of_gyration_is_that_of_friction() {
    let r = 0.2 / 2f64.sqrt();
    let material = format!("material = [{{ name = \"m\", friction = {{ ellipsoid = [1, 1, {r}], mu = 0.3 }} }}]");
    let scene = on_a_plane(&material, &slider("disc", [1.5, 0.03], [1.0, 0.5, 8.0], "m"));
    for scheme in SCHEMES {
        let mut scene = scene.clone();
        scene.time.integrator = scheme;
        let mut simulation = start(&scene, 1e-3);
        for _ in 0..500 {
            simulation.advance(1.0).unwrap();
            let c = simulation.contacts()[0];
            let speed = c.velocity[1].hypot(c.velocity[2]);
            // Exactly so for the discrete law too, but for the tolerance of the solver.
            assert!((c.turn[0] * 1.25f64.sqrt() - 8.0 * speed).abs() < 1e-8, "{c:?}");
            // The moment is the spin's share of the load, on the limit surface.
            let load = (c.impulse[1].hypot(c.impulse[2]) / 0.3).hypot(c.moment[0] / (0.3 * r));
            assert!((load / c.impulse[0] - 1.0).abs() < 1e-8, "{c:?}");
        }
    }
}

/// One of each law, side by side.
fn menagerie() -> Scene {
    let frame = "friction_frame = { body = \"ground\", direction = [1, 1, 0] }";
    let laws = [
        ("disc", "0.3"),
        ("ellipse", "[0.3, 0.1]"),
        ("polygon", "{ polygon = 5, mu = 0.3 }"),
        ("fan", "{ directions = [[0.3, 0], [0, 0.2], [-0.1, 0], [0, -0.4]] }"),
        ("ellipsoid", "{ ellipsoid = [1, 0.6, 0.1], mu = 0.3 }"),
        ("mixed", "{ mixed = [1, 0.7, 0.1], mu = 0.25 }"),
        (
            "box",
            "{ polyhedron = [[1, 0, 0], [-1, 0, 0], [0, 2, 0], [0, -2, 0], [0, 0, 9], [0, 0, -9], [0.8, 0.8, 5]], mu = 0.3 }",
        ),
        ("rolling", "{ rolling = 0.02, mu = 0.3 }"),
    ];
    let (mut materials, mut bodies) = (String::new(), String::new());
    for (i, (name, friction)) in laws.iter().enumerate() {
        let frame = if matches!(*name, "disc" | "rolling" | "polygon") { "" } else { frame };
        materials += &format!("[[material]]\nname = \"{name}\"\nfriction = {friction}\n{frame}\n");
        bodies += &format!(
            "[[body]]\nname = \"{name}\"\nmass = 1.5\nposition = [{i}, 0, 0]\ninertia = [0.02, 0.03, 0.04]\nvelocity = [1, 0.4, 0]\n\
             angular_velocity = [0.1, 0.2, 5]\npoint = [{{ name = \"p\", material = \"{name}\" }}, {{ name = \"q\", material = \"{name}\", position = [0.1, 0, 0] }}, {{ name = \"r\", material = \"{name}\", position = [0, 0.1, 0] }}]\n"
        );
    }
    // A pendulum that drags a foot, so that rows meet through joints.
    bodies += "[[body]]\nname = \"arm\"\nmass = 1\ninertia = [0.1, 0.1, 0.1]\nposition = [0, -2, 0.5]\n\
               [[body]]\nname = \"foot\"\nmass = 1\ninertia = [0.1, 0.1, 0.1]\nposition = [0, -2, 0]\npoint = [{ name = \"p\", material = \"ellipsoid\" }, { name = \"q\", material = \"rolling\", position = [0.2, 0.1, 0] }]\n\
               [[joint]]\nname = \"hip\"\nkind = \"spherical\"\nparent = \"arm\"\nchild = \"foot\"\nparent_frame = { position = [0, 0, -0.25] }\nchild_frame = { position = [0, 0, 0.25] }\n";
    on_a_plane(&materials, &bodies)
}

/// All laws in one problem: every formulation gives the same motion, and every step is solved.
#[test]
fn formulations_agree_on_all_laws_beside_each_other() {
    for scheme in SCHEMES {
        let mut ends = Vec::new();
        for formulation in FORMULATIONS {
            let mut scene = menagerie();
            scene.time.integrator = scheme;
            scene.solver.formulation = formulation;
            let mut simulation = start(&scene, 2e-3);
            go(&mut simulation, 0.1, |s, report| {
                assert!(!report.is_unsolved, "{formulation:?} {:?}", report.residual);
                // Some points lift off.
                assert!(report.contacts >= 10, "{}", s.contacts().len());
            });
            let seen = observe(&mut simulation);
            ends.push(seen.bodies.iter().flat_map(|b| b.position.into_iter().chain(b.velocity)).collect::<Vec<_>>());
        }
        for (k, other) in ends[1..].iter().enumerate() {
            for (a, b) in ends[0].iter().zip(other) {
                // The tolerance of the contact problems, over fifty steps.
                assert!((a - b).abs() < 1e-7, "{scheme:?} {:?}: {a} {b}", FORMULATIONS[k + 1]);
            }
        }
    }
}

/// A state with contacts of every size goes through a file, and the run goes on to the same bits.
#[test]
fn memory_of_all_laws_survives_a_checkpoint() {
    let scene = menagerie();
    let mut whole = start(&scene, 2e-3);
    go(&mut whole, 0.02, |_, _| {});
    let text = serde_json::to_string(whole.state()).unwrap();
    let state: State = serde_json::from_str(&text).unwrap();
    assert_eq!(whole.state(), &state);
    let sizes: std::collections::BTreeSet<usize> = state.contacts.iter().map(|c| c.impulse.len()).collect();
    assert_eq!(sizes, [3, 4, 5].into());
    let mut options = Options::from_scene(&scene);
    options.step = Some(2e-3);
    let built = build(&scene).unwrap();
    let mut resumed = Simulation::new(built.model, built.plan, options, state).unwrap();
    go(&mut whole, 0.04, |_, _| {});
    go(&mut resumed, 0.04, |_, _| {});
    assert_eq!(whole.state(), resumed.state());
}

/// A disc whose ellipse turns with it, against its equations of motion by Runge and Kutta.
#[test]
fn directions_turn_with_the_body_that_they_are_fixed_in() {
    let (mu, spin) = ([0.4, 0.1], 3.0);
    let material = format!(
        "material = [{{ name = \"m\", friction = {mu:?}, friction_frame = {{ body = \"disc\", direction = [1, 0, 0] }} }}]"
    );
    let scene = on_a_plane(&material, &slider("disc", [1.5, 0.03], [1.5, 0.2, spin], "m"));
    // Friction has no moment about the centre: the disc turns steadily.
    let rate = |t: f64, [_, _, vx, vy]: [f64; 4]| {
        let (sin, cos) = (spin * t).sin_cos();
        let (a, b) = (vx * cos + vy * sin, vy * cos - vx * sin);
        let size = (mu[0] * a).hypot(mu[1] * b);
        let (a, b) = (-9.81 * mu[0] * mu[0] * a / size, -9.81 * mu[1] * mu[1] * b / size);
        [vx, vy, a * cos - b * sin, a * sin + b * cos]
    };
    let (end, n) = (0.3, 3000);
    let dt = end / f64::from(n);
    let mut x = [0.0, 0.0, 1.5, 0.2];
    for k in 0..n {
        let t = f64::from(k) * dt;
        let along = |x: [f64; 4], k: [f64; 4], f: f64| std::array::from_fn::<f64, 4, _>(|i| x[i] + f * k[i]);
        let k1 = rate(t, x);
        let k2 = rate(t + dt / 2.0, along(x, k1, dt / 2.0));
        let k3 = rate(t + dt / 2.0, along(x, k2, dt / 2.0));
        let k4 = rate(t + dt, along(x, k3, dt));
        x = std::array::from_fn(|i| x[i] + dt / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    for scheme in SCHEMES {
        let mut scene = scene.clone();
        scene.time.integrator = scheme;
        let errors: Vec<(f64, f64)> = [4e-3, 2e-3, 1e-3]
            .into_iter()
            .map(|step| {
                let mut simulation = start(&scene, step);
                go(&mut simulation, end, |_, _| {});
                let b = &observe(&mut simulation).bodies[0];
                let off = [b.position[0] - x[0], b.position[1] - x[1], b.velocity[0] - x[2], b.velocity[1] - x[3]];
                (step, off.iter().fold(0.0, |m: f64, x| m.max(x.abs())))
            })
            .collect();
        println!("{scheme:?} {errors:?}");
        assert!(errors[2].1 < 5e-3 && slope(&errors) > 0.85, "{scheme:?} {errors:?}");
    }
}

/// Ways of sliders under a regular polygon tend to those under the disc as η⁻².
#[test]
fn polygons_tend_to_the_disc() {
    let n = 24;
    let way = |friction: &str| {
        // Angles that no polygon shares.
        let direction = |k: usize| (2.399_963 * k as f64).sin_cos();
        let bodies: String =
            (0..n).map(|k| slider(&format!("b{k}"), [1.0, 0.1], [direction(k).1, direction(k).0, 0.0], "m")).collect();
        let apart = "[[contact]]\nbodies = [\"b*\", \"b*\"]\nenabled = false\n";
        let scene = on_a_plane(&format!("[[material]]\nname = \"m\"\nfriction = {friction}\n"), &(bodies + apart));
        let mut simulation = start(&scene, 1e-3);
        go(&mut simulation, 0.5, |_, _| {});
        let seen = observe(&mut simulation);
        let along =
            |k: usize| direction(k).1 * seen.bodies[k].position[0] + direction(k).0 * seen.bodies[k].position[1];
        (0..n).map(along).collect::<Vec<f64>>()
    };
    let disc = way("0.3");
    let errors: Vec<(f64, f64)> = [6u32, 12, 24, 48]
        .into_iter()
        .map(|sides| {
            let ways = way(&format!("{{ polygon = {sides}, mu = 0.3 }}"));
            let worst = ways.iter().zip(&disc).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
            (1.0 / f64::from(sides), worst)
        })
        .collect();
    println!("{errors:?}");
    let slope = slope(&errors);
    assert!((1.8..2.3).contains(&slope), "{slope} {errors:?}");
}

/// A ball with rolling friction ρ rolls to rest: its deceleration is 5/7 of g ρ/R, its way v²/2a.
#[test]
fn a_ball_rolls_to_rest() {
    let (rho, r, v) = (0.01, 0.1, 0.7);
    let text = format!(
        "gravity = [0, 0, -9.81]\ntime = {{ end = 2, step = 1e-3 }}\n\
         material = [{{ name = \"m\", friction = {{ rolling = {rho}, mu = 0.5 }} }}]\n\
         [[body]]\nname = \"ground\"\nshape = [{{ kind = \"half-space\" }}]\n\
         [[body]]\nname = \"ball\"\nmass = 2\nposition = [0, 0, {r}]\nvelocity = [{v}, 0, 0]\nangular_velocity = [0, {}, 0]\n\
         shape = [{{ kind = \"sphere\", radius = {r}, material = \"m\" }}]\n",
        v / r
    );
    let way = v * v / (2.0 * 5.0 / 7.0 * 9.81 * rho / r);
    for scheme in SCHEMES {
        let mut scene = scene(&text);
        scene.time.integrator = scheme;
        let errors: Vec<(f64, f64)> = [8e-3, 4e-3, 2e-3]
            .into_iter()
            .map(|step| {
                let mut simulation = start(&scene, step);
                go(&mut simulation, 1.2, |s, _| {
                    let c = s.contacts()[0];
                    // It does not slide, and friction's moment is at its bound while it rolls.
                    assert!(c.velocity[1].hypot(c.velocity[2]) < 1e-8, "{c:?}");
                    if c.turn[1].hypot(c.turn[2]) > 1e-6 {
                        assert!((c.moment[1].hypot(c.moment[2]) / (rho * c.impulse[0]) - 1.0).abs() < 1e-8, "{c:?}");
                    }
                });
                assert_eq!(simulation.contacts()[0].mode, Mode::Stick);
                (step, (observe(&mut simulation).bodies[0].position[0] - way).abs() / way)
            })
            .collect();
        println!("{scheme:?} {errors:?}");
        assert!(errors[2].1 < 5e-3 && slope(&errors) > 0.85, "{scheme:?} {errors:?}");
    }
}

/// Two soft fingers hold a bar by the weight W at a distance d from their line iff (W/2)² (1 + d²/e_r²) ≤ (μ N)².
#[test]
fn soft_fingers_hold_up_to_the_limit_surface() {
    let (weight, push, d, e_r): (f64, f64, f64, f64) = (2.0 * 9.81, 40.0, 0.05, 0.02);
    let least = weight / 2.0 * (1.0 + (d / e_r).powi(2)).sqrt() / push;
    let fallen = |mu: f64, integrator: Integrator| {
        let finger = |name: &str, y: f64| {
            format!(
                "[[body]]\nname = \"{name}\"\nmass = 0.5\ninertia = [1e-3, 1e-3, 1e-3]\npoint = [{{ name = \"tip\", material = \"soft\" }}]\n\
                 [[joint]]\nname = \"{name}\"\nkind = \"prismatic\"\nparent = \"ground\"\nchild = \"{name}\"\naxis = [0, 1, 0]\nq = [{y}]\nmotor = [{{ kind = \"torque\", value = {} }}]\n",
                -y.signum() * push
            )
        };
        let text = format!(
            "gravity = [0, 0, -9.81]\ntime = {{ end = 1, step = 1e-3 }}\n\
             material = [{{ name = \"soft\", friction = {{ ellipsoid = [1, 1, {e_r}], mu = {mu} }} }}]\n\
             [[body]]\nname = \"bar\"\nmass = 2\ncom = [{d}, 0, 0]\ninertia = [0.01, 0.02, 0.02]\nshape = [{{ kind = \"box\", size = [0.3, 0.04, 0.04] }}]\n{}{}",
            finger("left", 0.02),
            finger("right", -0.02)
        );
        let mut scene = scene(&text);
        scene.time.integrator = integrator;
        let mut simulation = start(&scene, 1e-3);
        let before = observe(&mut simulation).bodies[0].position[2];
        go(&mut simulation, 0.2, |_, report| assert!(!report.is_unsolved, "{:?}", report.residual));
        before - observe(&mut simulation).bodies[0].position[2]
    };
    for scheme in SCHEMES {
        let (held, dropped) = (fallen(least * (1.0 + 1e-6), scheme), fallen(least * (1.0 - 1e-3), scheme));
        assert!(held.abs() < 1e-9 && dropped > 1e-6, "{scheme:?}: {held:e} {dropped:e}");
    }
}

/// A block that is pushed slowly at a distance d from its centre turns about a point e_r²/d beyond it.
#[test]
fn a_pushed_block_turns_about_the_point_of_its_limit_surface() {
    let (d, e_r) = (0.03, 0.05);
    let text = format!(
        "gravity = [0, 0, -9.81]\ntime = {{ end = 2, step = 1e-3 }}\n\
         material = [{{ name = \"patch\", friction = {{ ellipsoid = [1, 1, {e_r}], mu = 0.4 }} }}]\n\
         contact = [{{ bodies = [\"pusher\", \"bumper\"], friction = 0 }}, {{ bodies = [\"*r\", \"ground\"], enabled = false }}]\n\
         [[body]]\nname = \"ground\"\nshape = [{{ kind = \"half-space\" }}]\n\
         [[body]]\nname = \"block\"\nmass = 1\ninertia = [1e-3, 1e-3, 1e-3]\npoint = [{{ name = \"patch\", material = \"patch\" }}]\n\
         [[body]]\nname = \"bumper\"\nmass = 1\ninertia = [1e-3, 1e-3, 1e-3]\nshape = [{{ kind = \"box\", size = [0.2, 0.2, 0.02] }}]\n\
         [[body]]\nname = \"pusher\"\nmass = 1\ninertia = [1e-3, 1e-3, 1e-3]\npoint = [{{ name = \"tip\" }}]\n\
         [[joint]]\nname = \"glue\"\nkind = \"fixed\"\nparent = \"block\"\nchild = \"bumper\"\n\
         [[joint]]\nname = \"push\"\nkind = \"prismatic\"\nparent = \"ground\"\nchild = \"pusher\"\naxis = [1, 0, 0]\nparent_frame = {{ position = [-0.1, {}, 0] }}\n\
         motor = [{{ kind = \"motion\", position = {{ kind = \"ramp\", rate = 1e-4 }} }}]\n",
        -d
    );
    let mut simulation = start(&scene(&text), 1e-3);
    go(&mut simulation, 0.5, |_, report| assert!(!report.is_unsolved, "{:?}", report.residual));
    let block = observe(&mut simulation).bodies[0];
    // The velocity of the centre over the rate of turning: how far the point at rest is from the centre.
    let beyond = block.velocity[0] / block.angular_velocity[2];
    // The side has turned a little since, and its point that is pushed is nearer to the centre. Inertia adds next to nothing.
    let now = d - 0.1 * 2.0 * block.orientation[3];
    assert!((beyond / (e_r * e_r / now) - 1.0).abs() < 1e-5, "{beyond} {block:?}");
}

/// What is no friction is refused, with its place.
#[test]
fn bad_friction_is_refused() {
    let cases = [
        ("friction = -0.1", "material[0].friction", "negative"),
        (
            "friction = [0.3, -0.1]\nfriction_frame = { body = \"ground\", direction = [1, 0, 0] }",
            "material[0].friction[1]",
            "negative",
        ),
        ("friction = [0.3, 0.1]", "material[0].friction_frame", "needs a frame"),
        ("friction = [0.3, 0.1, 0.2]", "material[0].friction", "wrong length"),
        (
            "friction = 0.3\nfriction_frame = { body = \"ground\", direction = [1, 0, 0] }",
            "material[0].friction_frame",
            "only friction",
        ),
        (
            "friction = [0.3, 0.1]\nfriction_frame = { body = \"a\", direction = [1, 0, 0] }",
            "material[0].friction_frame.body",
            "no such body",
        ),
        (
            "friction = [0.3, 0.1]\nfriction_frame = { body = \"ground\", direction = [0, 0, 0] }",
            "material[0].friction_frame.direction",
            "no direction",
        ),
        ("friction = { ellipsoid = [1, 1, 0], mu = 0.3 }", "material[0].friction.ellipsoid[2]", "positive"),
        ("friction = { ellipsoid = [1, 1, 0.1] }", "material[0].friction.mu", "required"),
        ("friction = { ellipsoid = [1, 1, 0.1], mu = nan }", "material[0].friction.mu", "finite"),
        ("friction = { ellipsoid = [1, 1, 0.1], rolling = 0.1, mu = 0.3 }", "material[0].friction", "one section"),
        ("friction = { mu = 0.3 }", "material[0].friction", "one section"),
        ("friction = { polygon = 2, mu = 0.3 }", "material[0].friction.polygon", "so many sides"),
        ("friction = { elipsoid = [1, 1, 0.1], mu = 0.3 }", "material[0].friction.elipsoid", "ellipsoid"),
        (
            "friction = { directions = [[1, 0], [0, 1], [1, 1]] }\nfriction_frame = { body = \"ground\", direction = [1, 0, 0] }",
            "material[0].friction",
            "positively span",
        ),
        (
            "friction = { polyhedron = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1]], mu = 0.3 }\nfriction_frame = { body = \"ground\", direction = [1, 0, 0] }",
            "material[0].friction",
            "bound the section",
        ),
    ];
    for (line, path, words) in cases {
        let text = format!(
            "time = {{ end = 1, step = 1e-3 }}\n[[material]]\nname = \"m\"\n{line}\n[[body]]\nname = \"b\"\nmass = 1\ninertia = [1, 1, 1]\n\
             point = [{{ name = \"p\", material = \"m\" }}]\n[[body]]\nname = \"ground\"\nshape = [{{ kind = \"half-space\" }}]\n"
        );
        let said = match read_str(&text, "test.toml", "") {
            Err(error) => error.to_string(),
            Ok(scene) => Simulation::from_scene(&scene).map(|_| ()).unwrap_err().to_string(),
        };
        assert!(said.contains(path) && said.contains(words), "{line}\n{said}");
    }
}

/// Two sections have no mean: the scene must say what holds, and the error names both.
#[test]
fn the_friction_of_two_sections_must_be_said() {
    let text = |rule: &str| {
        format!(
            "time = {{ end = 1, step = 1e-3 }}\n\
             material = [{{ name = \"felt\", friction = {{ rolling = 0.1, mu = 0.3 }} }}, {{ name = \"wood\", friction = 0.4 }}]\n{rule}\n\
             [[body]]\nname = \"b\"\nmass = 1\ninertia = [1, 1, 1]\npoint = [{{ name = \"p\", material = \"felt\" }}]\n\
             [[body]]\nname = \"ground\"\nshape = [{{ kind = \"half-space\", material = \"wood\" }}]\n"
        )
    };
    let error = Simulation::from_scene(&scene(&text(""))).map(|_| ()).unwrap_err().to_string();
    for words in ["material `felt` of `b`", "material `wood` of `ground`", "[[contact]]"] {
        assert!(error.contains(words), "{error}");
    }
    let said = "contact = [{ materials = [\"wood\", \"felt\"], friction = 0.3 }]";
    assert!(Simulation::from_scene(&scene(&text(said))).is_ok());
    let apart = "contact = [{ bodies = [\"b\", \"ground\"], enabled = false }]";
    assert!(Simulation::from_scene(&scene(&text(apart))).is_ok());
}
