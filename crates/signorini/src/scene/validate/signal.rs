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
            Signal::Varying(Varying::Ramp { start, rate }) => {
                self.number(format_args!("{at}.start"), *start, Range::Finite);
                self.number(format_args!("{at}.rate"), *rate, Range::Finite);
            }
            Signal::Varying(Varying::Sine { amplitude, angular_frequency, phase, offset }) => {
                self.number(format_args!("{at}.amplitude"), *amplitude, Range::Finite);
                self.number(format_args!("{at}.angular_frequency"), *angular_frequency, Range::Finite);
                self.number(format_args!("{at}.phase"), *phase, Range::Finite);
                self.number(format_args!("{at}.offset"), *offset, Range::Finite);
            }
            Signal::Varying(Varying::Table { times, values, interpolation }) => {
                self.table(at, times, values);
                if smooth && *interpolation == Some(Interpolation::Linear) {
                    let at = format_args!("{at}.interpolation");
                    let message = "straight lines have no acceleration at their corners, which prescribed motion needs";
                    self.add_with(FindingKind::Signal, at, message, |f| f.found("`linear`").allowed("`cubic`"));
                }
            }
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
