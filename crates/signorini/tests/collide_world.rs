//! Filters, materials, order, bad numbers, memory.
#![allow(clippy::unwrap_used, clippy::expect_used)]
// To count allocations.
#![allow(unsafe_code)]

mod collide_support;
use collide_support::*;
use signorini::collide::{Contact, Scratch, World};
use signorini::contact::law::{self, PairLaw};
use signorini::model::{BodyId, Model};
use signorini::scene::*;
use signorini::spatial::{Pose, Twist, Vec3};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is handed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|n| n.set(n.get() + 1));
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(p, layout) }
    }
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|n| n.set(n.get() + 1));
        // SAFETY: as promised by the caller.
        unsafe { System.realloc(p, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Three balls in one place, and a floor under them.
fn balls() -> Scene {
    let ball = |name: &str, group: &str| Body { group: Some(group.into()), ..body(name, vec![shape(sphere(1.0))]) };
    let floor = ground(vec![shape(Geometry::HalfSpace)]);
    scene(vec![floor, ball("a1", "left"), ball("a2", "left"), ball("b", "right")])
}

/// Pairs that touch, with friction and restitution of the first contact.
fn touching(scene: &Scene) -> Vec<(Option<u32>, u32, f64, f64)> {
    let world = world(scene);
    let mut out = Vec::new();
    let poses = [at(0.0, 0.0, 1.0), at(0.1, 0.0, 1.0), at(0.0, 0.1, 1.0)];
    world.find_contacts(&poses, &[Twist::default(); 3], 1e-3, &mut Scratch::default(), &mut out);
    check(&out);
    let laws = world.laws();
    let coefficients = |c: &Contact| {
        let PairLaw { friction: law::Friction::Disc { mu }, restitution, .. } = laws.get(c.law) else {
            panic!("only coefficients here");
        };
        (*mu, *restitution)
    };
    out.iter().map(|c| (c.a.map(|BodyId(i)| i), c.b.unwrap().0, coefficients(c).0, coefficients(c).1)).collect()
}

fn pairs(scene: &Scene) -> Vec<(Option<u32>, u32)> {
    touching(scene).into_iter().map(|(a, b, _, _)| (a, b)).collect()
}

fn rule(bodies: [&str; 2], enabled: bool) -> ContactRule {
    ContactRule { bodies: bodies.map(String::from).to_vec(), enabled: Some(enabled), ..ContactRule::default() }
}

#[test]
fn rules_and_joints_filter() {
    let all = vec![(None, 0), (None, 1), (None, 2), (Some(0), 1), (Some(0), 2), (Some(1), 2)];
    let without =
        |gone: &[(Option<u32>, u32)]| -> Vec<_> { all.iter().copied().filter(|p| !gone.contains(p)).collect() };
    let mut scene = balls();
    assert_eq!(pairs(&scene), all);
    scene.contact = vec![rule(["b", "a1"], false)];
    assert_eq!(pairs(&scene), without(&[(Some(0), 2)]));
    scene.contact = vec![rule(["a*", "*"], false)];
    assert_eq!(pairs(&scene), [(None, 2)]);
    scene.contact = vec![rule(["*", "*"], false), rule(["ground", "b"], true)];
    assert_eq!(pairs(&scene), [(None, 2)]);
    let groups = vec!["left".into(), "left".into()];
    scene.contact = vec![ContactRule { groups, enabled: Some(false), ..ContactRule::default() }];
    assert_eq!(pairs(&scene), without(&[(Some(0), 1)]));
    scene.contact = Vec::new();
    scene.joint = vec![Joint {
        name: "j".into(),
        kind: JointKind::Spherical,
        parent: "a1".into(),
        child: "b".into(),
        ..Joint::default()
    }];
    assert_eq!(pairs(&scene), without(&[(Some(0), 2)]));
    scene.joint[0].absent = true;
    assert_eq!(pairs(&scene), all);
    scene.joint[0].absent = false;
    scene.contact = vec![rule(["a1", "b"], true)];
    assert_eq!(pairs(&scene), all);
    assert!(validate::validate(&scene).is_empty());
}

#[test]
fn materials_combine() {
    let mut scene = balls();
    let material = |name: &str, friction: Option<f64>, restitution| Material {
        name: name.into(),
        friction: friction.map(Friction::from),
        restitution,
        ..Material::default()
    };
    scene.material = vec![
        material("rough", Some(0.8), Some(0.1)),
        material("smooth", Some(0.2), Some(0.7)),
        material("silent", None, None),
    ];
    for (body, name) in [(0, "silent"), (1, "rough"), (2, "smooth"), (3, "silent")] {
        scene.body[body].shape[0].material = Some(name.into());
    }
    let law = |scene: &Scene, a: Option<u32>, b: u32| {
        let found = touching(scene).into_iter().find(|t| (t.0, t.1) == (a, b)).unwrap();
        (found.2, found.3)
    };
    assert_eq!(law(&scene, None, 0), (0.8, 0.1));
    assert_eq!(law(&scene, None, 2), (0.0, 0.0));
    let (friction, restitution) = law(&scene, Some(0), 1);
    assert!((friction - 0.4).abs() < 1e-15 && restitution == 0.7);
    let materials = vec!["smooth".into(), "rough".into()];
    scene.contact = vec![ContactRule { materials, friction: Some(0.3.into()), ..ContactRule::default() }];
    assert_eq!(law(&scene, Some(0), 1), (0.3, 0.7));
    let bodies = vec!["a1".into(), "a2".into()];
    scene.contact.insert(0, ContactRule { bodies, friction: Some(0.9.into()), ..ContactRule::default() });
    assert_eq!(law(&scene, Some(0), 1), (0.9, 0.7));
}

#[test]
fn rules_are_checked() {
    use FindingKind::*;
    let kinds = |contact: ContactRule| {
        let scene = Scene { contact: vec![contact], ..balls() };
        validate::validate(&scene).into_iter().map(|f| (f.kind, f.path)).collect::<Vec<_>>()
    };
    let at = |kind, path: &str| vec![(kind, path.to_owned())];
    assert_eq!(kinds(ContactRule::default()), at(Misplaced, "contact[0]"));
    assert_eq!(kinds(rule(["a1", "c"], false)), at(UnknownName, "contact[0].bodies[1]"));
    assert_eq!(kinds(rule(["c*", "b"], false)), at(Pattern, "contact[0].bodies[0]"));
    assert_eq!(kinds(ContactRule { enabled: None, ..rule(["a1", "b"], true) }), at(Missing, "contact[0]"));
    assert_eq!(
        kinds(ContactRule { friction: Some((-1.0).into()), ..rule(["a1", "b"], true) }),
        at(OutOfRange, "contact[0].friction")
    );
    assert_eq!(
        kinds(ContactRule { restitution: Some(1.1), ..rule(["a1", "b"], true) }),
        at(OutOfRange, "contact[0].restitution")
    );
    assert_eq!(
        kinds(ContactRule { bodies: vec!["b".into()], ..rule(["a1", "b"], true) }),
        at(WrongLength, "contact[0].bodies")
    );
    let mut scene = balls();
    for radius in [f64::NAN, 0.0, 1e-200, 1e200] {
        scene.body[1].shape[0].geometry = sphere(radius);
        assert_eq!(validate::validate(&scene).len(), 1, "{radius}");
    }
    for (columns, heights) in [(1, 4), (3, 4), (4, 4), (2, 0)] {
        let heights = vec![0.0; heights];
        scene.body[0].shape[0].geometry =
            signorini::scene::Geometry::HeightField { size: [1.0, 1.0], columns, heights };
        scene.body[1].shape[0].geometry = sphere(1.0);
        assert_eq!(validate::validate(&scene).len(), 1, "{columns}");
    }
}

/// Bodies in another order have the same contacts, bit for bit but for the side that is called a.
#[test]
fn the_order_of_bodies_does_not_matter() {
    let mut random = Random(9);
    let geometries = [sphere(0.4), cuboid(0.8, 0.6, 0.5), capsule(0.2, 0.8), cylinder(0.3, 0.6), cone(0.4, 0.7)];
    let n = 20;
    let bodies: Vec<Body> = (0..n).map(|i| body(&format!("b{i}"), vec![shape(geometries[i % 5].clone())])).collect();
    let poses: Vec<Pose> = (0..n).map(|_| random.pose(1.0)).collect();
    let find = |order: &[usize]| {
        let world = world(&scene(order.iter().map(|&i| bodies[i].clone()).collect()));
        let mut out = Vec::new();
        let poses: Vec<Pose> = order.iter().map(|&i| poses[i]).collect();
        world.find_contacts(&poses, &vec![Twist::default(); n], 1e-3, &mut Scratch::default(), &mut out);
        let of = |c: &signorini::collide::Contact| {
            let (a, b) = (order[c.a.unwrap().index()], order[c.b.unwrap().index()]);
            (a.min(b), a.max(b))
        };
        let mut deepest: Vec<((usize, usize), f64)> = Vec::new();
        for c in &out {
            match deepest.iter_mut().find(|d| d.0 == of(c)) {
                Some(d) => d.1 = d.1.min(c.gap),
                None => deepest.push((of(c), c.gap)),
            }
        }
        deepest.sort_by_key(|d| d.0);
        deepest
    };
    let order: Vec<usize> = (0..n).collect();
    let reversed: Vec<usize> = (0..n).rev().collect();
    let (there, back) = (find(&order), find(&reversed));
    assert_eq!(there.len(), back.len());
    assert!(there.len() > 20);
    for (t, b) in there.iter().zip(&back) {
        assert_eq!(t.0, b.0);
        assert!((t.1 - b.1).abs() < 1e-6, "{t:?} {b:?}");
    }
}

#[test]
fn what_has_no_answer_is_named() {
    // Balls around one point: some direction, the full depth, and a mark.
    let found = Two::new(sphere(0.5), sphere(0.25)).rest(&[at(1.0, 2.0, 3.0), at(1.0, 2.0, 3.0)]);
    assert_eq!(found.len(), 1);
    assert!(found[0].gap == -0.75 && !found[0].is_reliable);
    // Any two shapes around one point give finite numbers.
    let all = [
        sphere(0.5),
        cuboid(1.0, 1.0, 1.0),
        capsule(0.2, 1.0),
        capsule(0.2, 0.0),
        cylinder(0.5, 1.0),
        cone(0.5, 1.0),
        box_hull(1.0, 1.0, 1.0),
        cuboid(1.0, 1.0, 1e-9),
        cylinder(1e-9, 1.0),
    ];
    for a in &all {
        for b in &all {
            let mut two = Two::new(a.clone(), b.clone());
            let found = two.rest(&[at(1.0, 2.0, 3.0), at(1.0, 2.0, 3.0)]);
            assert!(found.iter().all(|c| c.gap < 0.0), "{a:?} {b:?}");
            assert!(!found.is_empty(), "{a:?} {b:?}");
        }
    }
    // Poses that are not finite or too far away leave their shapes out.
    let mut two = Two::new(sphere(0.5), sphere(0.25));
    for bad in [f64::NAN, f64::INFINITY, 1e200] {
        let far = Pose::new(Pose::identity().rotation, Vec3::repeat(bad));
        assert!(two.rest(&[at(0.0, 0.0, 0.0), far]).is_empty());
    }
}

/// Balls and boxes that wander between walls, few and many: what a memory knows of neighbours changes no bit, whatever it has seen.
#[test]
fn neighbours_are_never_missed() {
    let mut random = Random(5);
    let mut memory = Scratch::default();
    for n in [8, 60] {
        let walls = vec![shape(Geometry::HalfSpace), shape(cuboid(0.2, 3.0, 3.0)), shape(box_mesh(3.0, 0.2, 3.0))];
        let mut bodies = vec![ground(walls)];
        let form = |i: usize| [sphere(0.3), cuboid(0.5, 0.4, 0.6), capsule(0.2, 0.5)][i % 3].clone();
        bodies.extend((0..n).map(|i| body(&format!("b{i}"), vec![shape(form(i))])));
        let joined = Joint { name: "j".into(), parent: "b0".into(), child: "b1".into(), ..Joint::default() };
        let tied = Scene { joint: vec![joined], ..scene(bodies.clone()) };
        let worlds = [world(&scene(bodies)), world(&tied)];
        let reach = 0.4 * f64::cbrt(n as f64);
        let mut poses: Vec<Pose> = (0..n).map(|_| random.pose(reach)).collect();
        let mut n_contacts = 0;
        for step in 0..200 {
            // Most moves stay in the room of a shape, some do not.
            let size = if step % 20 == 19 { 1.0 } else { 0.02 };
            for pose in &mut poses {
                pose.translation += random.vector() * size * random.unit();
            }
            let twists: Vec<Twist> = (0..n).map(|_| Twist::new(random.vector(), random.vector())).collect();
            let find = |memory: &mut Scratch| {
                let mut out = Vec::new();
                worlds[step / 30 % 2].find_contacts(&poses, &twists, 0.02, memory, &mut out);
                (out, memory.n_pairs)
            };
            let (found, wanted) = (find(&mut memory), find(&mut Scratch::default()));
            assert_eq!(found, wanted, "{n} shapes, step {step}");
            n_contacts += found.0.len();
        }
        assert!(n_contacts > 200, "{n_contacts}");
    }
}

/// Boxes and balls at rest on each other and on a floor of triangles: no memory is asked for once it has been seen.
#[test]
fn steady_contact_allocates_nothing() {
    let mut bodies = vec![ground(vec![shape(Geometry::HalfSpace), shape(field(30.0, 12))])];
    let mut poses = Vec::new();
    for i in 0..10 {
        for j in 0..4 {
            let geometry = [cuboid(1.0, 1.0, 1.0), sphere(0.5), cylinder(0.5, 1.0), box_hull(1.0, 1.0, 1.0)][j].clone();
            bodies.push(body(&format!("b{i}-{j}"), vec![shape(geometry)]));
            poses.push(at(1.01 * i as f64 - 5.0, 3.0 * j as f64 - 4.0, 0.5));
            bodies.push(body(&format!("c{i}-{j}"), vec![shape(cuboid(0.9, 0.9, 1.0))]));
            poses.push(at(1.01 * i as f64 - 5.0, 3.0 * j as f64 - 4.0, 1.5));
        }
    }
    let world = World::build(&Model::build(&scene(bodies)).unwrap()).unwrap();
    let twists = vec![Twist::default(); poses.len()];
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    for _ in 0..70 {
        world.find_contacts(&poses, &twists, 1e-3, &mut scratch, &mut out);
    }
    let before = ALLOCATIONS.with(Cell::get);
    for _ in 0..10 {
        world.find_contacts(&poses, &twists, 1e-3, &mut scratch, &mut out);
    }
    assert_eq!(ALLOCATIONS.with(Cell::get) - before, 0);
    assert!(out.len() > 200);
}
