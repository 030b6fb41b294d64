//! Functions of time.

use super::Check;
use super::numbers::Range;
use crate::scene::{FindingKind, Interpolation, Signal, Varying};
use std::fmt::Arguments;

impl Check<'_> {
    /// A function of time. Prescribed motion needs accelerations, hence `smooth` tables.
    pub(in crate::scene) fn signal(&mut self, at: Arguments<'_>, signal: &Signal, smooth: bool) {
        match signal {
            Signal::Constant(value) => {
                self.number(at, *value, Range::Finite);
            }
            Signal::Varying(varying) => self.varying(at, varying, smooth),
        }
    }

    fn varying(&mut self, at: Arguments<'_>, varying: &Varying, smooth: bool) {
        let mut finite = |key: &str, value: f64| {
            self.number(format_args!("{at}.{key}"), value, Range::Finite);
        };
        match varying {
            Varying::Ramp { start, rate } => {
                finite("start", *start);
                finite("rate", *rate);
            }
            Varying::Sine { amplitude, angular_frequency, phase, offset } => {
                finite("amplitude", *amplitude);
                finite("angular_frequency", *angular_frequency);
                finite("phase", *phase);
                finite("offset", *offset);
            }
            Varying::Step { time, before, after } => {
                finite("time", *time);
                finite("before", *before);
                finite("after", *after);
                self.jump(at, "step", smooth);
            }
            Varying::Pulse { start, duration, value, offset } => {
                finite("start", *start);
                finite("value", *value);
                finite("offset", *offset);
                self.number(format_args!("{at}.duration"), *duration, Range::Positive);
                self.jump(at, "pulse", smooth);
            }
            Varying::Sum { terms } => {
                if terms.is_empty() {
                    self.add_with(FindingKind::Signal, format_args!("{at}.terms"), "a sum needs terms", |f| {
                        f.found("none").allowed("1 or more")
                    });
                }
                for (i, term) in terms.iter().enumerate() {
                    let at = format_args!("{at}.terms[{i}]");
                    if matches!(term, Varying::Sum { .. }) {
                        let message = "the terms of a sum are no sums: write all of them in one list";
                        self.add(FindingKind::Signal, at, message);
                    } else {
                        self.varying(at, term, smooth);
                    }
                }
            }
            Varying::Table { times, values, interpolation } => {
                self.table(at, times, values);
                if smooth && *interpolation == Some(Interpolation::Linear) {
                    let at = format_args!("{at}.interpolation");
                    let message = "straight lines have no acceleration at their corners, which prescribed motion needs";
                    self.add_with(FindingKind::Signal, at, message, |f| f.found("`linear`").allowed("`cubic`"));
                }
            }
        }
    }

    /// A signal that jumps is no motion.
    fn jump(&mut self, at: Arguments<'_>, found: &str, smooth: bool) {
        if smooth {
            let message = "a jump has no velocity, which prescribed motion needs";
            self.add_with(FindingKind::Signal, format_args!("{at}.kind"), message, |f| {
                f.found(format!("`{found}`")).allowed("`ramp`, `sine`, `table`, or a `sum` of these")
            });
        }
    }

    fn table(&mut self, at: Arguments<'_>, times: &[f64], values: &[f64]) {
        if times.len() < 2 {
            self.add_with(FindingKind::Signal, format_args!("{at}.times"), "a table needs at least two entries", |f| {
                f.found(times.len().to_string()).allowed("2 or more")
            });
        }
        if values.len() != times.len() {
            self.add_with(
                FindingKind::Signal,
                format_args!("{at}.values"),
                "as many values as times are needed",
                |f| f.found(values.len().to_string()).allowed(times.len().to_string()),
            );
        }
        self.numbers(format_args!("{at}.values"), values, Range::Finite);
        if !self.numbers(format_args!("{at}.times"), times, Range::Finite) {
            return;
        }
        if let Some(i) = times.windows(2).position(|pair| pair[0] >= pair[1]) {
            let at = format_args!("{at}.times[{}]", i + 1);
            self.add_with(FindingKind::Signal, at, "the times must increase strictly", |f| {
                f.found(format!("{} after {}", times[i + 1], times[i])).allowed(format!("more than {}", times[i]))
            });
        }
    }
}
