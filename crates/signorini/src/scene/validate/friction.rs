//! Friction of a material or of a rule.

use super::Check;
use super::numbers::Range;
use crate::scene::friction::Allowed;
use crate::scene::schema::quoted;
use crate::scene::{FindingKind, Friction, FrictionFrame, FrictionSection, GROUND, MAX_FRICTION_SIDES};
use std::fmt::Arguments;

impl Check<'_> {
    /// Friction and restitution of a material or of a rule.
    pub(super) fn surface(
        &mut self,
        at: Arguments<'_>,
        (friction, frame): (Option<&Friction>, Option<&FrictionFrame>),
        restitution: Option<f64>,
    ) {
        match friction {
            None => {}
            Some(Friction::Coefficient(mu)) => {
                self.number(format_args!("{at}.friction"), *mu, Range::NotNegative);
            }
            Some(Friction::Ellipse(mu)) => {
                self.numbers(format_args!("{at}.friction"), mu, Range::NotNegative);
            }
            Some(Friction::Section(section)) => self.section(format_args!("{at}.friction"), section),
        }
        self.frame(at, friction, frame);
        if let Some(restitution) = restitution
            && self.number(format_args!("{at}.restitution"), restitution, Range::NotNegative)
            && restitution > 1.0
        {
            let message = "restitution is a fraction";
            self.add_with(FindingKind::OutOfRange, format_args!("{at}.restitution"), message, |f| {
                f.found(restitution.to_string()).allowed("from 0 to 1")
            });
        }
    }

    fn section(&mut self, at: Arguments<'_>, s: &FrictionSection) {
        let given = s.given();
        let [section] = &given[..] else {
            let found = if given.is_empty() { "none".to_owned() } else { quoted(given.iter().map(|g| g.key)) };
            self.add_with(FindingKind::Misplaced, at, "friction has one section", |f| {
                f.found(found).allowed(format!("one of {}", quoted(FrictionSection::KEYS)))
            });
            return;
        };
        let place = format_args!("{at}.mu");
        match s.mu {
            Some(_) if section.has_own_mu => {
                self.add(FindingKind::Misplaced, place, "the section has coefficients of its own");
            }
            Some(mu) => _ = self.number(place, mu, Range::NotNegative),
            None if !section.has_own_mu => {
                self.add_with(FindingKind::Missing, place, "this key is required", |f| {
                    f.found("nothing").allowed("a coefficient of friction")
                });
            }
            None => {}
        }
        let key = section.key;
        let range = match section.allowed {
            Allowed::Finite => Range::Finite,
            Allowed::NotNegative => Range::NotNegative,
            Allowed::Positive => Range::Positive,
        };
        let numbers = section.numbers;
        // Sides are lists of their own.
        let width = section.sides.map_or(0, |[n, _]| numbers.len() / n.max(1));
        for (i, x) in numbers.iter().enumerate() {
            _ = match (width, numbers.len()) {
                (0, 1) => self.number(format_args!("{at}.{key}"), *x, range),
                (0, _) => self.number(format_args!("{at}.{key}[{i}]"), *x, range),
                _ => self.number(format_args!("{at}.{key}[{}][{}]", i / width, i % width), *x, range),
            };
        }
        if let Some([n, least]) = section.sides {
            self.sides(format_args!("{at}.{key}"), n, least);
        }
    }

    fn sides(&mut self, at: Arguments<'_>, n: usize, least: usize) {
        if !(least..=MAX_FRICTION_SIDES).contains(&n) {
            self.add_with(FindingKind::OutOfRange, at, "no section has so many sides", |f| {
                f.found(n.to_string()).allowed(format!("from {least} to {MAX_FRICTION_SIDES}"))
            });
        }
    }

    fn frame(&mut self, at: Arguments<'_>, friction: Option<&Friction>, frame: Option<&FrictionFrame>) {
        let place = format_args!("{at}.friction_frame");
        match (friction, frame) {
            (Some(friction), None) if !friction.is_isotropic() => {
                self.add_with(FindingKind::Missing, place, "friction that has directions needs a frame", |f| {
                    f.found("nothing").allowed("a table with `body` and `direction`")
                });
            }
            (None | Some(Friction::Coefficient(_)), Some(_)) => {
                self.add(FindingKind::Misplaced, place, "only friction that has directions has a frame");
            }
            (_, Some(frame)) => {
                let scene = self.scene;
                let known: Vec<&str> = scene.body.iter().map(|b| b.name.as_str()).chain([GROUND]).collect();
                if !known.contains(&frame.body.as_str()) {
                    self.unknown_name(format_args!("{at}.friction_frame.body"), "body", &frame.body, &known);
                }
                self.axis(format_args!("{at}.friction_frame.direction"), frame.direction);
            }
            _ => {}
        }
    }
}
