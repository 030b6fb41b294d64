//! What is wrong with a scene, said once, whoever finds it.

use std::fmt;

/// Most findings that are worked out; beyond them they are only counted, so that no input can make an endless list.
pub const MAX_FINDINGS: usize = 100;

/// One thing that is wrong, with its place as a key path such as `body[2].mass` (counted from zero).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What sort of thing it is.
    pub kind: FindingKind,
    /// Where: the path of keys from the top of the scene. Empty for the scene as a whole.
    pub path: String,
    /// Whose: for example ``body `arm` ``, where the thing has a name.
    pub subject: Option<String>,
    /// What is wrong, in a sentence without its full stop.
    pub message: String,
    /// What was found there.
    pub found: Option<String>,
    /// What may stand there.
    pub allowed: Option<String>,
    /// What to do about it, where that can be guessed.
    pub help: Option<String>,
}

/// Sorts of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FindingKind {
    /// Not TOML.
    Syntax,
    /// Not UTF-8.
    Encoding,
    /// Larger than the reader accepts.
    TooLarge,
    /// A key that does not exist.
    UnknownKey,
    /// A value of another type.
    WrongType,
    /// A list with too few or too many entries.
    WrongLength,
    /// A key that must be there and is not.
    Missing,
    /// NaN, infinity, or a number too large for double precision.
    NotFinite,
    /// A number outside of its range.
    OutOfRange,
    /// A word that is none of the choices.
    UnknownChoice,
    /// A name with characters that columns and patterns need for themselves, or none.
    BadName,
    /// A name given twice.
    DuplicateName,
    /// A reference to something that does not exist.
    UnknownName,
    /// A key that does not go with the kind or with another key.
    Misplaced,
    /// Mass given in no way, in two ways, or in half of one.
    MassRule,
    /// An inertia that no body can have.
    Inertia,
    /// An axis without direction, or two that are not perpendicular.
    Axis,
    /// A quaternion without direction.
    Quaternion,
    /// A function of time that is not one.
    Signal,
    /// An actuator that its joint cannot have.
    Motor,
    /// Two events that cannot both happen.
    Contradiction,
    /// A pattern that matches nothing.
    Pattern,
    /// Both ends on the same body.
    SameBody,
    /// A geometry file that cannot be read.
    File,
    /// A mesh that is no closed surface around a volume, or points without one.
    Geometry,
    /// Found when the mechanism is put together: loops that do not close, bodies that cannot move as asked.
    Mechanism,
}

impl FindingKind {
    /// Every sort.
    pub const ALL: [Self; 26] = [
        Self::Syntax,
        Self::Encoding,
        Self::TooLarge,
        Self::UnknownKey,
        Self::WrongType,
        Self::WrongLength,
        Self::Missing,
        Self::NotFinite,
        Self::OutOfRange,
        Self::UnknownChoice,
        Self::BadName,
        Self::DuplicateName,
        Self::UnknownName,
        Self::Misplaced,
        Self::MassRule,
        Self::Inertia,
        Self::Axis,
        Self::Quaternion,
        Self::Signal,
        Self::Motor,
        Self::Contradiction,
        Self::Pattern,
        Self::SameBody,
        Self::File,
        Self::Geometry,
        Self::Mechanism,
    ];

    /// A short stable code, for example `scene::unknown-key`.
    pub fn code(self) -> &'static str {
        match self {
            Self::Syntax => "scene::syntax",
            Self::Encoding => "scene::encoding",
            Self::TooLarge => "scene::too-large",
            Self::UnknownKey => "scene::unknown-key",
            Self::WrongType => "scene::wrong-type",
            Self::WrongLength => "scene::wrong-length",
            Self::Missing => "scene::missing",
            Self::NotFinite => "scene::not-finite",
            Self::OutOfRange => "scene::out-of-range",
            Self::UnknownChoice => "scene::unknown-choice",
            Self::BadName => "scene::bad-name",
            Self::DuplicateName => "scene::duplicate-name",
            Self::UnknownName => "scene::unknown-name",
            Self::Misplaced => "scene::misplaced",
            Self::MassRule => "scene::mass-rule",
            Self::Inertia => "scene::inertia",
            Self::Axis => "scene::axis",
            Self::Quaternion => "scene::quaternion",
            Self::Signal => "scene::signal",
            Self::Motor => "scene::motor",
            Self::Contradiction => "scene::contradiction",
            Self::Pattern => "scene::pattern",
            Self::SameBody => "scene::same-body",
            Self::File => "scene::file",
            Self::Geometry => "scene::geometry",
            Self::Mechanism => "scene::mechanism",
        }
    }
}

impl Finding {
    /// A finding at a key path.
    pub fn new(kind: FindingKind, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind, path: path.into(), subject: None, message: message.into(), found: None, allowed: None, help: None }
    }

    /// Adds whose it is.
    pub fn subject(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    /// Adds what was found.
    pub fn found(mut self, found: impl Into<String>) -> Self {
        self.found = Some(found.into());
        self
    }

    /// Adds what is allowed.
    pub fn allowed(mut self, allowed: impl Into<String>) -> Self {
        self.allowed = Some(allowed.into());
        self
    }

    /// Adds advice, where there is any.
    pub fn help(mut self, help: impl Into<Option<String>>) -> Self {
        self.help = help.into();
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.path.is_empty(), &self.subject) {
            (false, Some(subject)) => write!(f, "{} ({subject}): ", self.path)?,
            (false, None) => write!(f, "{}: ", self.path)?,
            (true, Some(subject)) => write!(f, "{subject}: ")?,
            (true, None) => {}
        }
        f.write_str(&self.message)?;
        if let Some(found) = &self.found {
            write!(f, "; found {found}")?;
        }
        if let Some(allowed) = &self.allowed {
            write!(f, "; allowed: {allowed}")?;
        }
        if let Some(help) = &self.help {
            write!(f, "; {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Finding {}
