//! A scene before it runs: bodies where the file puts them, and what does not fit there.
//!
//! **Problem.** Who places a mechanism blind places it wrong: loops that do not close, bodies within each other, joints beyond their limits.
//!
//! **Method.** From the ground, and from one body of everything that floats, bodies are placed along joints at the coordinates that the scene
//! gives. A joint between two bodies that are placed already closes a loop: what is left when its own coordinates are fitted
//! is the gap. Overlaps are those that collision finds there. Nothing is moved: a run begins with loops closed, and this shows what
//! it begins from.
//!
//! **Cost.** O(bodies + joints), and one search for contacts.
//!
//! **Fails when** a model cannot be built; then there is an error and no picture.
//!
//! **Checked by** the tests below and `crates/signorini-cli/tests/report.rs`.

use super::cast::Cast;
use super::certificate::{Certificate, Line, Verdict};
use super::frames::{Frames, Placed};
use super::pack::Sections;
use super::series::SeriesList;
use super::{FramesHeader, Header, Report, ReportError};
use crate::collide::{Scratch, World};
use crate::model::{BodyId, Instant, Joint, Model, MotorKind};
use crate::record::{RecordError, VERSION};
use crate::scene::{GROUND, Scene, SceneSource};
use crate::spatial::{Pose, Quaternion, Twist, Vec3};
use serde::Serialize;
use std::collections::HashMap;
use std::path::PathBuf;

/// What does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MisfitKind {
    /// Two bodies within each other.
    Overlap,
    /// A loop that is not closed.
    Gap,
    /// A joint beyond a limit.
    Limit,
}

/// A place where something does not fit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Misfit {
    /// What sort.
    pub kind: MisfitKind,
    /// Names.
    pub what: String,
    /// Where.
    pub at: [f64; 3],
    /// From the one side to the other.
    pub by: [f64; 3],
    /// How far.
    pub size: f64,
}

/// Misfits below this share of the mechanism's size, or of a radian, are rounding of what was typed.
const ROUNDING: f64 = 1e-9;
/// Misfits that are marked.
const MOST: usize = 200;

impl Report {
    /// The initial pose of a scene. `words` is what `check` says of it, `troubles` why it would not run.
    pub fn of_scene(
        name: &str,
        scene: &Scene,
        source: &SceneSource,
        words: &[(String, String)],
        troubles: &[String],
    ) -> Result<Self, ReportError> {
        let model = Model::build(scene)?;
        let poses = place(scene, &model);
        let misfits = find_misfits(scene, &model, &poses);
        let mut certificate = Certificate::default();
        let mut say = |what: &str, value: String, verdict, reason: &str| {
            let (what, reason) = (what.to_owned(), reason.to_owned());
            certificate.lines.push(Line { what, value, verdict, reason, rule: String::new() });
        };
        troubles.iter().for_each(|trouble| say("will not run", String::new(), Verdict::Wrong, trouble));
        for misfit in &misfits {
            let (what, why) = match misfit.kind {
                MisfitKind::Overlap => ("overlap", "it will be removed without adding kinetic energy"),
                MisfitKind::Gap => ("loop gap", "the run begins with the loop closed, and moves bodies for it"),
                MisfitKind::Limit => ("beyond a limit", "the coordinate as given is outside of what the joint allows"),
            };
            say(what, format!("{}: {:.3e}", misfit.what, misfit.size), Verdict::Look, why);
        }
        for (what, value) in words {
            say(what.trim(), value.clone(), Verdict::Note, "");
        }
        if misfits.is_empty() && troubles.is_empty() {
            say("placement", "fits".to_owned(), Verdict::Fine, "no overlap, no loop gap, no limit exceeded");
        }
        let title = scene.title.clone().unwrap_or_else(|| name.to_owned());
        let failed = |source| RecordError::Io { action: "pack", path: PathBuf::from(name), source };
        let pack = pack(name, &title, &model, &poses, misfits, &source.text, &certificate).map_err(failed)?;
        Ok(Self { title, pack, certificate, sheet: None })
    }
}

fn pack(
    name: &str,
    title: &str,
    model: &Model,
    poses: &[Pose],
    misfits: Vec<Misfit>,
    scene_text: &str,
    certificate: &Certificate,
) -> std::io::Result<Vec<u8>> {
    let mut sections = Sections::default();
    let mut frames = Frames::default();
    for (body, pose) in model.bodies().iter().zip(poses) {
        let orientation = Quaternion::from_matrix(&pose.rotation);
        frames.add(&[Some(Placed { position: pose.point(&body.com), orientation })]);
    }
    sections.add_doubles("frames.times", &[0.0])?;
    frames.write(&mut sections)?;
    let catalogue = SeriesList::new(vec![0.0], Vec::new(), false).write(&mut sections)?;
    let cast = Cast::new(model, &mut sections)?;
    sections.finish(|sections| Header {
        title,
        name,
        version: VERSION,
        is_finished: false,
        is_smooth: false,
        cast,
        frames: FramesHeader { count: 1, recorded: 1, resolution: 0.0, unseen: 0 },
        catalogue,
        panels: Vec::new(),
        contacts: None,
        events: Vec::new(),
        certificate,
        verdict: certificate.verdict(),
        scene_text,
        misfits,
        sections,
    })
}

/// Coordinates of a joint as the scene gives them, prescribed motion at its start.
fn coordinates(scene: &Scene, model: &Model, index: usize) -> Vec<f64> {
    let joint = &model.joints()[index];
    let mut q = vec![0.0; joint.joint_type.kind.n_q()];
    joint.joint_type.neutral(&mut q);
    if let Some(given) =
        scene.joint.get(index).and_then(|joint| joint.q.as_ref()).filter(|given| given.len() == q.len())
    {
        q.copy_from_slice(given);
        joint.joint_type.normalise(&mut q);
    }
    for motor in joint.fittings.motors.iter().filter(|motor| motor.kind == MotorKind::Motion) {
        if let Some(x) = q.get_mut(motor.coordinate).filter(|_| joint.joint_type.quaternion().is_none()) {
            *x = motor.signal.at(Instant::now(0.0))[0];
        }
    }
    q
}

/// Where each body is by what the scene says.
fn place(scene: &Scene, model: &Model) -> Vec<Pose> {
    let n = model.bodies().len();
    let given: HashMap<&str, Pose> = scene
        .body
        .iter()
        .map(|body| (body.name.as_str(), Pose::from_parts(body.position.unwrap_or_default(), body.orientation)))
        .collect();
    let own = |b: usize| given.get(model.bodies()[b].name.as_str()).copied().unwrap_or_default();
    let slot = |body: Option<BodyId>| body.map_or(n, BodyId::index);
    let mut of_body: Vec<Vec<usize>> = vec![Vec::new(); n + 1];
    for (j, joint) in model.joints().iter().enumerate().filter(|(_, joint)| !joint.is_absent) {
        of_body[slot(joint.parent)].push(j);
        of_body[slot(joint.child)].push(j);
    }
    let mut poses: Vec<Option<Pose>> = vec![None; n + 1];
    // The ground first, then bodies that the scene places, then what is left.
    let mut roots: Vec<usize> = (0..n).collect();
    roots.sort_by_key(|&b| !model.bodies()[b].is_placed);
    for root in std::iter::once(n).chain(roots) {
        if poses[root].is_some() {
            continue;
        }
        poses[root] = Some(if root == n { Pose::identity() } else { own(root) });
        let mut queue = vec![root];
        while let Some(from) = queue.pop() {
            for &j in &of_body[from] {
                let joint = &model.joints()[j];
                let (is_backwards, to) =
                    if slot(joint.parent) == from { (false, slot(joint.child)) } else { (true, slot(joint.parent)) };
                let Some(base) = poses[from].filter(|_| poses[to].is_none()) else { continue };
                let across = joint.parent_frame
                    * joint.joint_type.pose(&coordinates(scene, model, j))
                    * joint.child_frame.inverse();
                poses[to] = Some(base * if is_backwards { across.inverse() } else { across });
                queue.push(to);
            }
        }
    }
    poses.truncate(n);
    poses.into_iter().map(Option::unwrap_or_default).collect()
}

/// Everything that does not fit, the worst first.
fn find_misfits(scene: &Scene, model: &Model, poses: &[Pose]) -> Vec<Misfit> {
    let pose = |body: Option<BodyId>| body.map_or_else(Pose::identity, |id| poses[id.index()]);
    let mut found: Vec<Misfit> = Vec::new();
    for (j, joint) in model.joints().iter().enumerate().filter(|(_, joint)| !joint.is_absent) {
        let (on_parent, on_child) = (pose(joint.parent) * joint.parent_frame, pose(joint.child) * joint.child_frame);
        let q = coordinates(scene, model, j);
        found.extend(gap(model, joint, &on_parent, &on_child, q.clone()));
        found.extend(excess(joint, &on_parent, &q));
    }
    found.extend(overlaps(model, poses));
    found.sort_by(|a, b| b.size.total_cmp(&a.size));
    found.truncate(MOST);
    found
}

/// What is left of the misfit of a joint when its own coordinates are fitted.
fn gap(model: &Model, joint: &Joint, on_parent: &Pose, on_child: &Pose, mut q: Vec<f64>) -> Option<Misfit> {
    let between = on_parent.inverse() * *on_child;
    joint.joint_type.find_coordinates(&between, &mut q);
    let nearest = *on_parent * joint.joint_type.pose(&q);
    let by = on_child.translation - nearest.translation;
    let turn = Quaternion::from_matrix(&(nearest.rotation.transpose() * on_child.rotation)).log().norm();
    let size = by.norm().max(turn * model.characteristic_length());
    if size <= ROUNDING * (model.characteristic_length() + nearest.translation.norm()) {
        return None;
    }
    let angle = if turn > ROUNDING { format!(" and {turn:.2e} rad") } else { String::new() };
    let what = format!("{}{angle}", joint.name);
    Some(Misfit { kind: MisfitKind::Gap, what, at: nearest.translation.into(), by: by.into(), size })
}

/// How far a joint is beyond a limit.
fn excess(joint: &Joint, on_parent: &Pose, q: &[f64]) -> Option<Misfit> {
    let f = &joint.fittings;
    let below = f.lower.iter().zip(q).map(|(limit, q)| (limit - q, *limit));
    let above = f.upper.iter().zip(q).map(|(limit, q)| (q - limit, *limit));
    let beyond = below.chain(above).filter(|(size, limit)| limit.is_finite() && *size > ROUNDING * (1.0 + limit.abs()));
    let (size, limit) = beyond.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let (at, axis) = (on_parent.translation, on_parent.rotation.column(2).into_owned());
    let what = format!("{} and its limit {limit}", joint.name);
    Some(Misfit { kind: MisfitKind::Limit, what, at: at.into(), by: (axis * size).into(), size })
}

/// The deepest overlap of each pair of bodies.
fn overlaps(model: &Model, poses: &[Pose]) -> Vec<Misfit> {
    // A world that cannot be built is an error of the model, which `check` tells.
    let Some(world) = World::build(model).ok().filter(|world| world.first_pair().is_some()) else { return Vec::new() };
    let (mut scratch, mut contacts) = (Scratch::default(), Vec::new());
    world.find_contacts(poses, &vec![Twist::default(); poses.len()], 0.0, &mut scratch, &mut contacts);
    let mut deepest: HashMap<[Option<BodyId>; 2], (f64, Vec3, Vec3)> = HashMap::new();
    for contact in &contacts {
        let depth = -contact.gap;
        if depth <= ROUNDING * (model.characteristic_length() + contact.point.norm()) {
            continue;
        }
        let entry = deepest.entry([contact.a, contact.b]).or_insert((0.0, contact.point, contact.normal));
        if depth > entry.0 {
            *entry = (depth, contact.point, contact.normal);
        }
    }
    let name = |body: Option<BodyId>| body.map_or(GROUND, |id| model.bodies()[id.index()].name.as_str());
    let misfit = |([a, b], (size, at, normal)): ([Option<BodyId>; 2], (f64, Vec3, Vec3))| Misfit {
        kind: MisfitKind::Overlap,
        what: format!("{} and {}", name(a), name(b)),
        at: at.into(),
        by: (normal * size).into(),
        size,
    };
    let mut found: Vec<Misfit> = deepest.into_iter().map(misfit).collect();
    found.sort_by(|a, b| a.what.cmp(&b.what));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::read::read_str;

    fn misfits(text: &str) -> Vec<Misfit> {
        let scene = read_str(text, "test.toml", "").unwrap();
        let model = Model::build(&scene).unwrap();
        find_misfits(&scene, &model, &place(&scene, &model))
    }

    /// Two rods of a metre on pivots a metre apart, their tips joined by a rod of a metre and a tenth.
    #[test]
    fn a_loop_that_does_not_close_has_its_gap() {
        let found = misfits(
            r#"
            time = { end = 1.0 }
            body = [
              { name = "a", mass = 1, inertia = [1, 1, 1] },
              { name = "b", mass = 1, inertia = [1, 1, 1] },
              { name = "c", mass = 1, inertia = [1, 1, 1] },
            ]
            [[joint]]
            name = "j1"
            kind = "revolute"
            parent = "ground"
            child = "a"
            [[joint]]
            name = "j2"
            kind = "revolute"
            parent = "a"
            child = "b"
            parent_frame = { position = [0, 1, 0] }
            [[joint]]
            name = "j3"
            kind = "revolute"
            parent = "b"
            child = "c"
            parent_frame = { position = [1.1, 0, 0] }
            child_frame = { position = [0, 1, 0] }
            [[joint]]
            name = "j4"
            kind = "revolute"
            parent = "ground"
            child = "c"
            parent_frame = { position = [1, 0, 0] }
            "#,
        );
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].kind, MisfitKind::Gap);
        assert!((found[0].size - 0.1).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn overlaps_and_limits_are_found_where_they_are() {
        let found = misfits(
            r#"
            gravity = [0, 0, -9.81]
            [time]
            end = 1.0
            step = 0.001
            [[body]]
            name = "ground"
            shape = [{ kind = "half-space" }]
            [[body]]
            name = "ball"
            mass = 1
            position = [3, 0, 0.4]
            shape = [{ kind = "sphere", radius = 0.5 }]
            [[body]]
            name = "arm"
            mass = 1
            com = [0, 0, 5]
            inertia = [1, 1, 1]
            [[joint]]
            name = "hinge"
            kind = "revolute"
            parent = "ground"
            child = "arm"
            q = [0.7]
            lower = -0.5
            upper = 0.5
            "#,
        );
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!((found[0].kind, found[1].kind), (MisfitKind::Limit, MisfitKind::Overlap));
        assert!((found[0].size - 0.2).abs() < 1e-12 && (found[1].size - 0.1).abs() < 1e-12);
        assert_eq!((found[1].what.as_str(), found[1].at[0]), ("ground and ball", 3.0));
    }
}
