//! A scene that fails, cut down to the smallest one that still does.
//!
//! **Problem.** A random scene of seven bodies says little; the same failure with one body says nearly all.
//!
//! **Method.** Delta debugging on the scene's structure: things that can be left out (bodies with what hangs on them, joints, shapes, motors,
//! limits, friction, speeds, turns, gravity, restitution, time) are left out one after the other as long as the same check fails; then
//! numbers are rounded to as few digits as that allows. Again, until nothing more can go.
//!
//! **Cost.** Some hundred runs, bounded by a number of trials.
//!
//! **Fails when** a failure needs two things to go at once.
//!
//! **Checked by** `cases/campaign/tests/judge.rs`.

use crate::judge::{Check, judge};
use crate::run::through_text;
use signorini::scene::{Friction, GROUND, PerCoordinate, Scene};

/// Most scenes that are tried.
const MOST_TRIALS: usize = 400;

/// The smallest scene that was found for which the check still fails, and what it then says.
pub fn shrink(scene: &Scene, check: Check) -> (Scene, String) {
    shrink_by(scene, &|scene| {
        let scene = through_text(scene).ok()?;
        judge(&scene, &[check]).into_iter().next().map(|failure| failure.what)
    })
}

/// The same with any question to a scene.
pub fn shrink_by(scene: &Scene, fails: &dyn Fn(&Scene) -> Option<String>) -> (Scene, String) {
    let (mut best, mut what) = (scene.clone(), fails(scene).unwrap_or_default());
    let mut trials = 0;
    loop {
        let mut has_changed = false;
        let mut at = 0;
        // What was just tried changes the list of what is left; places that were tried are not tried again in this round.
        while trials < MOST_TRIALS {
            let Some(smaller) = smaller(&best).into_iter().nth(at) else { break };
            trials += 1;
            match (smaller != best).then(|| fails(&smaller)).flatten() {
                Some(now) => (best, what, has_changed) = (smaller, now, true),
                None => at += 1,
            }
        }
        if !has_changed || trials >= MOST_TRIALS {
            return (best, what);
        }
    }
}

/// Scenes with one thing less, the largest things first.
fn smaller(scene: &Scene) -> Vec<Scene> {
    let mut found = Vec::new();
    let mut add = |change: &dyn Fn(&mut Scene)| {
        let mut s = scene.clone();
        change(&mut s);
        if s != *scene {
            found.push(s);
        }
    };
    for share in [0.25, 0.5, 0.8] {
        add(&|s| {
            let steps = s.time.step.map_or(1.0, |h| (share * s.time.end / h).round().max(1.0));
            s.time.end = s.time.step.map_or(s.time.end, |h| h * steps);
        });
    }
    for (i, body) in scene.body.iter().enumerate() {
        add(&|s| {
            s.body.remove(i);
            if body.name != GROUND {
                s.joint.retain(|j| j.parent != body.name && j.child != body.name);
                s.contact.retain(|rule| !rule.bodies.contains(&body.name));
            }
        });
        for k in 0..body.shape.len() {
            add(&|s| {
                s.body[i].shape.remove(k);
            });
        }
        add(&|s| s.body[i].angular_velocity = None);
        add(&|s| s.body[i].velocity = None);
        add(&|s| s.body[i].orientation = None);
        add(&|s| s.body[i].mass = s.body[i].mass.map(|_| 1.0));
    }
    for i in 0..scene.joint.len() {
        add(&|s| {
            s.joint.remove(i);
        });
        add(&|s| s.joint[i].motor.clear());
        add(&|s| (s.joint[i].lower, s.joint[i].upper, s.joint[i].restitution) = (None, None, None));
        add(&|s| s.joint[i].friction = None);
        add(&|s| s.joint[i].damping = None);
        add(&|s| s.joint[i].spring = None);
        add(&|s| s.joint[i].armature = None);
        add(&|s| s.joint[i].v = None);
    }
    add(&|s| s.gravity = [0.0; 3]);
    for i in 0..scene.material.len() {
        add(&|s| s.material[i].restitution = Some(0.0));
        add(&|s| s.material[i].friction = Some(0.0.into()));
    }
    for digits in [1, 2, 3, 6] {
        add(&|s| round(s, digits));
    }
    for i in 0..scene.body.len() {
        add(&|s| round_body(&mut s.body[i], 2));
    }
    found
}

/// A number with so many digits.
fn rounded(x: f64, digits: usize) -> f64 {
    format!("{x:.*e}", digits - 1).parse().unwrap_or(x)
}

fn round_body(body: &mut signorini::scene::Body, digits: usize) {
    let r = |x: &mut f64| *x = rounded(*x, digits);
    for v in [&mut body.position, &mut body.velocity, &mut body.angular_velocity].into_iter().flatten() {
        v.iter_mut().for_each(r);
    }
    body.mass.iter_mut().for_each(r);
    body.orientation.iter_mut().flatten().for_each(r);
    body.inertia.iter_mut().flatten().for_each(r);
}

fn round(s: &mut Scene, digits: usize) {
    let r = |x: &mut f64| *x = rounded(*x, digits);
    let steps = s.time.step.map_or(1.0, |h| (s.time.end / h).round());
    s.time.step.iter_mut().for_each(r);
    if let Some(h) = s.time.step {
        s.time.end = rounded(steps * h, 12);
    }
    s.body.iter_mut().for_each(|b| round_body(b, digits));
    for material in &mut s.material {
        if let Some(Friction::Coefficient(mu)) = &mut material.friction {
            r(mu);
        }
        material.restitution.iter_mut().for_each(r);
    }
    for j in &mut s.joint {
        j.q.iter_mut().flatten().for_each(r);
        j.v.iter_mut().flatten().for_each(r);
        for per in [&mut j.lower, &mut j.upper, &mut j.friction, &mut j.damping, &mut j.armature].into_iter().flatten()
        {
            if let PerCoordinate::All(x) = per {
                r(x);
            }
        }
    }
}
