//! Why a command did not do what it was asked for, on the screen and as an exit code.

use crate::tell;
use miette::{LabeledSpan, MietteDiagnostic, NamedSource, Report};
use signorini::record::RecordError;
use signorini::run::RunError;
use signorini::scene::{Finding, Problem, Problems, SceneError, SceneSource};
use std::process::ExitCode;
use std::sync::Arc;

/// Why a command did not do what it was asked for.
#[derive(Debug)]
pub enum Failure {
    /// The user asked for something impossible.
    Input(Vec<Report>),
    /// Stopped by policy, or a problem that was not solved. What was computed is kept.
    Unsolved(String),
    /// A recording is not what was written.
    Damaged(String),
    /// Files or devices.
    Io(String),
    /// The user wanted it.
    Interrupted,
}

impl Failure {
    /// Bad input that has no place in a file.
    pub fn input(message: impl Into<String>, help: Option<String>) -> Self {
        let mut diagnostic = MietteDiagnostic::new(message);
        diagnostic.help = help;
        Self::Input(vec![Report::new(diagnostic)])
    }

    /// What is wrong with a scene, found after it was read.
    pub fn findings(source: &Arc<SceneSource>, findings: Vec<Finding>) -> Self {
        source.error(findings).into()
    }

    /// Tells the user, on the standard error stream.
    pub fn print(&self) {
        match self {
            Self::Input(reports) => reports.iter().for_each(|report| tell!("{report:?}")),
            Self::Unsolved(message) => tell!("stopped: {message}"),
            Self::Damaged(message) => tell!("damaged: {message}"),
            Self::Io(message) => tell!("error: {message}"),
            Self::Interrupted => tell!("interrupted"),
        }
    }

    /// What the shell is told.
    pub fn code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Unsolved(_) | Self::Damaged(_) => 1,
            Self::Input(_) => 2,
            Self::Io(_) => 3,
            Self::Interrupted => 130,
        })
    }
}

impl From<SceneError> for Failure {
    fn from(error: SceneError) -> Self {
        match error {
            SceneError::Io { path, source } => Self::Io(format!("cannot read {}: {source}", path.display())),
            SceneError::Invalid(problems) => Self::Input(report(&problems)),
            other => Self::input(other.to_string(), None),
        }
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        if error.is_input() { Self::input(error.to_string(), None) } else { Self::Io(error.to_string()) }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Scene(error) => error.into(),
            other if other.is_input() => Self::input(other.to_string(), None),
            other => Self::Io(other.to_string()),
        }
    }
}

/// One report per problem, each with the piece of the file that it is about.
fn report(problems: &Problems) -> Vec<Report> {
    let SceneSource { file, text } = &*problems.source;
    let text = Arc::new(text.clone());
    let mut reports: Vec<Report> = Vec::new();
    for Problem { finding, place } in &problems.problems {
        let key = if finding.path.is_empty() { String::new() } else { format!("{}: ", finding.path) };
        let subject = finding.subject.as_ref().map_or_else(String::new, |subject| format!(" ({subject})"));
        let found = finding.found.as_ref().map_or_else(|| "here".to_owned(), |found| format!("found {found}"));
        let allowed = finding.allowed.as_ref().map(|allowed| format!("allowed: {allowed}"));
        let help: Vec<String> = allowed.into_iter().chain(finding.help.clone()).collect();
        let mut diagnostic = MietteDiagnostic::new(format!("{key}{}{subject}", finding.message))
            .with_code(finding.kind.code())
            .with_label(LabeledSpan::at(place.span.clone(), found));
        diagnostic.help = (!help.is_empty()).then(|| help.join("; "));
        reports.push(Report::new(diagnostic).with_source_code(NamedSource::new(file, Arc::clone(&text))));
    }
    if problems.is_cut {
        reports.push(Report::new(MietteDiagnostic::new("there may be more problems than are listed")));
    }
    reports
}
