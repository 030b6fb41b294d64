//! Friction of a material or of a rule.

use super::Check;
use super::numbers::Range;
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
        let given = [
            ("polygon", s.polygon.is_some()),
            ("directions", !s.directions.is_empty()),
            ("ellipsoid", s.ellipsoid.is_some()),
            ("mixed", s.mixed.is_some()),
            ("polyhedron", !s.polyhedron.is_empty()),
            ("rolling", s.rolling.is_some()),
        ];
        let said: Vec<&str> = given.iter().filter(|(_, is)| *is).map(|(key, _)| *key).collect();
        if said.len() != 1 {
            let found = if said.is_empty() { "none".to_owned() } else { crate::scene::schema::quoted(said) };
            self.add_with(FindingKind::Misplaced, at, "friction has one section", |f| {
                f.found(found).allowed("one of `polygon`, `directions`, `ellipsoid`, `mixed`, `polyhedron`, `rolling`")
            });
            return;
        }
        let has_own = !s.directions.is_empty();
        match s.mu {
            Some(_) if has_own => {
                self.add(FindingKind::Misplaced, format_args!("{at}.mu"), "`directions` have their own coefficients");
            }
            Some(mu) => _ = self.number(format_args!("{at}.mu"), mu, Range::NotNegative),
            None if !has_own => {
                self.add_with(FindingKind::Missing, format_args!("{at}.mu"), "this key is required", |f| {
                    f.found("nothing").allowed("a coefficient of friction")
                });
            }
            None => {}
        }
        for (key, e) in [("ellipsoid", s.ellipsoid), ("mixed", s.mixed)] {
            if let Some(e) = e {
                self.numbers(format_args!("{at}.{key}"), &e, Range::Positive);
            }
        }
        if let Some(rolling) = s.rolling {
            self.number(format_args!("{at}.rolling"), rolling, Range::NotNegative);
        }
        if let Some(n) = s.polygon {
            self.sides(format_args!("{at}.polygon"), n as usize, 3);
        }
        if has_own {
            self.sides(format_args!("{at}.directions"), s.directions.len(), 3);
            self.numbers(format_args!("{at}.directions"), s.directions.as_flattened(), Range::Finite);
        }
        if !s.polyhedron.is_empty() {
            self.sides(format_args!("{at}.polyhedron"), s.polyhedron.len(), 4);
            self.numbers(format_args!("{at}.polyhedron"), s.polyhedron.as_flattened(), Range::Finite);
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
