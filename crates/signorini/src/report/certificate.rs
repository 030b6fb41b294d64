//! How far a run may be trusted: every number of its certificate with a judgement, the reason, and the rule of thumb behind it.
//!
//! The rules are those of `book/choosing.md`. They judge orders of magnitude; where a number is on the edge, a run at half the step decides.

use super::steps::Steps;
use crate::impulse::EventReport;
use crate::model::{Form, Model};
use crate::record::{Identity, Status, Summary};
use serde::Serialize;

/// A judgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Said without a judgement.
    Note,
    /// As it should be.
    Fine,
    /// Worth a closer look.
    Look,
    /// Not to be trusted.
    Wrong,
}

/// One number, or one finding.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// What it is about.
    pub what: String,
    /// The number, as text.
    pub value: String,
    /// The judgement.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
    /// The rule of thumb.
    pub rule: String,
}

/// The certificate of a run.
#[derive(Debug, Default, Serialize)]
pub struct Certificate {
    /// Judged numbers, and what else there is to say.
    pub lines: Vec<Line>,
    /// How it was made: what and how much.
    pub settings: Vec<(String, String)>,
}

/// What a certificate is made from.
pub(super) struct Evidence<'a> {
    pub summary: Option<&'a Summary>,
    pub identity: Option<&'a Identity>,
    pub steps: &'a Steps,
    pub events: &'a [EventReport],
    pub model: &'a Model,
    /// The run's own estimate of the error of its motion, where it made one.
    pub motion_error: Option<f64>,
    pub command: Option<&'a str>,
}

impl Certificate {
    /// The worst judgement.
    pub fn verdict(&self) -> Verdict {
        self.lines.iter().map(|line| line.verdict).max().unwrap_or(Verdict::Note)
    }

    pub(super) fn new(evidence: &Evidence) -> Self {
        let mut certificate = Self { settings: settings(evidence), ..Self::default() };
        match evidence.summary {
            Some(summary) => certificate.judge(summary, evidence),
            None => certificate.say(
                "status",
                "not finished".into(),
                Verdict::Look,
                "the folder has no summary: the run goes on, or was killed",
                "a run is whole when its summary.json is there",
            ),
        }
        certificate.tell_events(evidence.events);
        certificate.tell_work(evidence);
        for finding in evidence.summary.map_or(&[][..], |summary| &summary.findings) {
            certificate.say(
                "finding",
                String::new(),
                Verdict::Look,
                finding,
                "findings are what the run wants you to know",
            );
        }
        certificate
    }

    fn say(&mut self, what: &str, value: String, verdict: Verdict, reason: &str, rule: &str) {
        let (what, reason, rule) = (what.to_owned(), reason.to_owned(), rule.to_owned());
        self.lines.push(Line { what, value, verdict, reason, rule });
    }

    /// A number that is better the smaller it is.
    fn grade(&mut self, what: &str, value: f64, [fine, wrong]: [f64; 2], reason: &str, rule: &str) {
        let verdict = match value {
            x if x <= fine => Verdict::Fine,
            x if x <= wrong => Verdict::Look,
            _ => Verdict::Wrong,
        };
        self.say(what, format!("{value:.2e}"), verdict, reason, rule);
    }

    fn judge(&mut self, summary: &Summary, evidence: &Evidence) {
        let is_whole = summary.status == Status::Completed;
        let (status, verdict) = if is_whole { ("completed", Verdict::Fine) } else { ("stopped", Verdict::Wrong) };
        let reason = format!("t = {} after {} steps", summary.sim_seconds, summary.steps);
        self.say("status", status.into(), verdict, &reason, "a run that stopped has not reached its end of time");
        let has_contact = summary.solver.is_some();
        let when = |name: &str| format!("worst at t = {}", evidence.steps.extent(name).when);
        self.judge_solution(summary, evidence, has_contact, &when("rel"));
        let drift = summary.energy.max_drift;
        let reason = "energy that work and dissipation do not explain, over the energy at play";
        if has_contact {
            let rule = "with contact: below 0.01 and halving with the step is fine, 1 is wrong";
            self.grade("energy balance", drift, [0.01, 1.0], reason, rule);
        } else {
            let rule = "without contact: 1e-9 is good, to 1e-6 fine, above 1e-3 wrong";
            self.grade("energy balance", drift, [1e-6, 1e-3], reason, rule);
        }
        let loops = summary.loop_drift;
        if loops.position > 0.0 || loops.velocity > 0.0 {
            let rule = "1e-10 is usual, above 1e-6 wrong";
            let (position, velocity) = (when("loop_position"), when("loop_velocity"));
            self.grade("loop drift (position)", loops.position, [1e-9, 1e-6], &position, rule);
            self.grade("loop drift (velocity)", loops.velocity, [1e-9, 1e-6], &velocity, rule);
        }
        if let Some(smallest) = smallest_shape(evidence.model).filter(|_| has_contact) {
            let share = summary.penetration / smallest;
            let reason = format!(
                "{:.2e}, over {smallest:.3e}, the size of the smallest shape; {}",
                summary.penetration,
                when("penetration")
            );
            let rule = "below a hundredth of the smallest shape is fine, above a tenth wrong";
            self.grade("penetration", share, [0.01, 0.1], &reason, rule);
        }
        let rule = "run once more at half the step and compare: the only general way to know it";
        match evidence.motion_error {
            Some(error) => {
                self.grade("estimated error of the motion", error, [1e-3, 1e-1], "as the run estimates it", rule)
            }
            None => self.say(
                "estimated error of the motion",
                "none".into(),
                Verdict::Note,
                "the run made no estimate",
                rule,
            ),
        }
    }

    fn judge_solution(&mut self, summary: &Summary, evidence: &Evidence, has_contact: bool, when: &str) {
        if has_contact {
            let tolerance = evidence.identity.map_or(1e-12, |identity| identity.tolerance);
            let verdict = match evidence.steps.troubles {
                Some([0, 0]) => Verdict::Fine,
                None if summary.residual.rel <= tolerance => Verdict::Fine,
                Some([0, _]) | None => Verdict::Look,
                Some(_) => Verdict::Wrong,
            };
            let reason = match evidence.steps.troubles {
                Some([unsolved, at_floor]) => {
                    format!("{unsolved} steps not solved, {at_floor} at the floor of rounding, {when}")
                }
                None => format!("too many steps to count here: the findings say whether any was not solved; {when}"),
            };
            let rule = format!("at most the tolerance, {tolerance:.0e}; at the floor of rounding look closer");
            self.say("residual", format!("{:.2e}", summary.residual.rel), verdict, &reason, &rule);
            let parts = summary.residual;
            let value = format!("{:.1e}, {:.1e}, {:.1e}", parts.signorini, parts.coulomb, parts.dissipation);
            let reason = "gap or force, friction within its bounds, friction against the motion";
            self.say(
                "residual in parts",
                value,
                Verdict::Note,
                reason,
                "definitions are in the book: the contact problem",
            );
        } else {
            self.grade(
                "residual",
                summary.residual.rel,
                [1e-9, 1e-6],
                when,
                "without contact that of loops: 1e-10 is usual",
            );
        }
    }

    fn tell_events(&mut self, events: &[EventReport]) {
        const MOST: usize = 200;
        for event in events.iter().take(MOST) {
            let size =
                |wrench: &[f64; 6], from: usize| wrench[from..from + 3].iter().map(|x| x * x).sum::<f64>().sqrt();
            let largest = event.impulses.iter().max_by(|a, b| size(a.1, 3).total_cmp(&size(b.1, 3)));
            let impulse = largest.map_or(String::new(), |(joint, wrench)| {
                format!(", largest impulse {:.4} in {joint} (moment {:.4})", size(wrench, 3), size(wrench, 0))
            });
            let targets = event.target.join(", ");
            let reason = format!(
                "{} of {targets}: kinetic energy {:.6} → {:.6}, lost {:.4e}{impulse}{}",
                event.kind,
                event.kinetic_energy.before,
                event.kinetic_energy.after,
                event.dissipated,
                event.notes.iter().map(|note| format!("; {note}")).collect::<String>(),
            );
            let value = format!("t = {}", event.time);
            self.say(
                &format!("event {}", event.name),
                value,
                Verdict::Note,
                &reason,
                "velocities jump by impulse and momentum; positions stay",
            );
        }
        if events.len() > MOST {
            let value = format!("{} more", events.len() - MOST);
            self.say("events", value, Verdict::Note, "they are in events.jsonl", "");
        }
    }

    fn tell_work(&mut self, evidence: &Evidence) {
        let steps = evidence.steps;
        let (sum, most) = (|name: &str| steps.extent(name).sum, |name: &str| steps.extent(name).most);
        if let Some([low, high]) = steps.lengths {
            let value = if low == high { format!("{low}") } else { format!("{low:.3e} to {high:.3e}") };
            let reason = format!("{} steps, {} attempts turned down", steps.count, sum("rejected"));
            self.say(
                "length of the step",
                value,
                Verdict::Note,
                &reason,
                "many attempts turned down: something is abrupt",
            );
        }
        if sum("evaluations") > 0.0 {
            let value = format!("{}", sum("evaluations"));
            self.say(
                "evaluations of the dynamics",
                value,
                Verdict::Note,
                "",
                "thirteen per step of the adaptive method",
            );
        }
        if most("contacts") > 0.0 {
            let value = format!("at most {}", most("contacts"));
            let mean = sum("contacts") / steps.rows.max(1) as f64;
            self.say("contacts", value, Verdict::Note, &format!("{mean:.1} per step"), "");
            let value = format!("{} in all, at most {} a step", sum("iterations"), most("iterations"));
            self.say(
                "iterations of the contact solver",
                value,
                Verdict::Note,
                "",
                "a step that takes far more than others is hard: see the plot",
            );
        }
    }
}

/// How the run was made.
fn settings(evidence: &Evidence) -> Vec<(String, String)> {
    let mut settings = Vec::new();
    let mut add = |what: &str, value: String| settings.push((what.to_owned(), value));
    if let Some(command) = evidence.command {
        add("command", command.to_owned());
    }
    if let Some(summary) = evidence.summary {
        add("scene", summary.scene.clone());
        add("version", summary.version.clone());
        add("threads", summary.threads.to_string());
        add("time it took", format!("{:.3} s", summary.wall_seconds));
        add("contact solver", summary.solver.clone().unwrap_or_else(|| "none: nothing can push".to_owned()));
    }
    if let Some(identity) = evidence.identity {
        add("formulation", format!("{:?}", identity.formulation).to_lowercase());
        add("integrator", identity.integrator.name().to_owned());
        add("step", identity.step.map_or_else(|| "automatic".to_owned(), |step| step.to_string()));
        add("rtol", identity.rtol.to_string());
        add("tolerance", identity.tolerance.to_string());
        add("end of time", identity.end.to_string());
        add("SHA-256 of the scene", identity.scene_hash.clone());
    }
    settings
}

/// The size of the smallest shape that has one.
fn smallest_shape(model: &Model) -> Option<f64> {
    let sizes = model.shapes().iter().filter(|shape| shape.body.is_some()).filter_map(|shape| match &shape.form {
        Form::Sphere { radius } => Some(2.0 * radius),
        Form::Box { half } => Some(2.0 * half.min()),
        Form::Capsule { radius, .. } => Some(2.0 * radius),
        Form::Cylinder { radius, half } | Form::Cone { radius, half } => Some(2.0 * radius.min(*half)),
        Form::Hull(mesh) | Form::Surface(mesh) => {
            let along = |axis: usize| {
                let values = || mesh.vertices.iter().map(move |v| v[axis]);
                values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min)
            };
            Some(along(0).min(along(1)).min(along(2)))
        }
        Form::Point | Form::HalfSpace => None,
    });
    sizes.filter(|size| *size > 0.0).min_by(f64::total_cmp)
}
