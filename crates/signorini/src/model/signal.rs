//! Functions of time with two derivatives.

use crate::scene;

/// A time at which signals are read, and the side from which.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Instant {
    /// The time.
    pub time: f64,
    /// A time in whose piece of a table `time` lies. Where pieces meet a derivative may jump; an integrator reads both ends of
    /// a step from within the step, so that it sees one smooth function.
    pub inside: f64,
}

impl Instant {
    /// Read from the right, as what begins now.
    pub const fn now(time: f64) -> Self {
        Self { time, inside: time }
    }
}

/// A compiled signal.
#[derive(Debug, Clone, PartialEq)]
pub enum Signal {
    /// A constant.
    Constant(f64),
    /// start + rate · t.
    Ramp {
        /// Value at zero.
        start: f64,
        /// Slope.
        rate: f64,
    },
    /// offset + amplitude · sin(ωt + phase).
    Sine {
        /// Amplitude.
        amplitude: f64,
        /// ω.
        angular_frequency: f64,
        /// Phase.
        phase: f64,
        /// Mean value.
        offset: f64,
    },
    /// Cubic pieces: times, values and slopes at the knots (a straight line where `linear`).
    Table {
        /// Knots.
        times: Vec<f64>,
        /// Values at the knots.
        values: Vec<f64>,
        /// Second derivatives at the knots; zero for straight pieces.
        curvatures: Vec<f64>,
    },
    /// Constant pieces: the times at which it jumps, and one value more than times.
    Pieces {
        /// Jumps.
        times: Vec<f64>,
        /// Values before, between and after.
        values: Vec<f64>,
    },
    /// A sum of signals, and all times at which a derivative of one may jump.
    Sum {
        /// Its terms.
        terms: Vec<Self>,
        /// Increasing times.
        times: Vec<f64>,
    },
}

impl Signal {
    /// Compiles a validated scene signal; tables are `cubic` where the caller needs two derivatives.
    pub fn build(signal: &scene::Signal, default: scene::Interpolation) -> Self {
        match signal {
            scene::Signal::Constant(c) => Self::Constant(*c),
            scene::Signal::Varying(varying) => Self::build_varying(varying, default),
        }
    }

    fn build_varying(varying: &scene::Varying, default: scene::Interpolation) -> Self {
        match varying {
            scene::Varying::Ramp { start, rate } => Self::Ramp { start: *start, rate: *rate },
            scene::Varying::Sine { amplitude, angular_frequency, phase, offset } => Self::Sine {
                amplitude: *amplitude,
                angular_frequency: *angular_frequency,
                phase: *phase,
                offset: *offset,
            },
            scene::Varying::Step { time, before, after } => {
                Self::Pieces { times: vec![*time], values: vec![*before, *after] }
            }
            scene::Varying::Pulse { start, duration, value, offset } => {
                Self::Pieces { times: vec![*start, start + duration], values: vec![*offset, *value, *offset] }
            }
            scene::Varying::Sum { terms } => {
                let terms: Vec<Self> = terms.iter().map(|term| Self::build_varying(term, default)).collect();
                let mut times: Vec<f64> = terms.iter().flat_map(|term| term.breakpoints().to_vec()).collect();
                times.sort_by(f64::total_cmp);
                Self::Sum { terms, times }
            }
            scene::Varying::Table { times, values, interpolation } => {
                let curvatures = match interpolation.unwrap_or(default) {
                    scene::Interpolation::Linear => vec![0.0; times.len()],
                    scene::Interpolation::Cubic => clamped_spline(times, values),
                };
                Self::Table { times: times.clone(), values: values.clone(), curvatures }
            }
        }
    }

    /// Value, first and second derivative.
    pub fn at(&self, instant: Instant) -> [f64; 3] {
        let Instant { time: t, inside } = instant;
        match self {
            Self::Constant(c) => [*c, 0.0, 0.0],
            Self::Ramp { start, rate } => [start + rate * t, *rate, 0.0],
            Self::Sine { amplitude, angular_frequency: w, phase, offset } => {
                let (s, c) = (w * t + phase).sin_cos();
                [offset + amplitude * s, amplitude * w * c, -amplitude * w * w * s]
            }
            Self::Table { times, values, curvatures } => {
                let n = times.len();
                if inside < times[0] {
                    return [values[0], 0.0, 0.0];
                }
                if inside >= times[n - 1] {
                    return [values[n - 1], 0.0, 0.0];
                }
                let k = times.partition_point(|&x| x <= inside) - 1;
                let h = times[k + 1] - times[k];
                let (b, a) = ((t - times[k]) / h, (times[k + 1] - t) / h);
                let (m0, m1) = (curvatures[k], curvatures[k + 1]);
                let chord = (values[k + 1] - values[k]) / h;
                [
                    a * values[k] + b * values[k + 1] + ((a * a * a - a) * m0 + (b * b * b - b) * m1) * h * h / 6.0,
                    chord + ((3.0 * b * b - 1.0) * m1 - (3.0 * a * a - 1.0) * m0) * h / 6.0,
                    a * m0 + b * m1,
                ]
            }
            Self::Pieces { times, values } => [values[times.partition_point(|&x| x <= inside)], 0.0, 0.0],
            Self::Sum { terms, .. } => terms.iter().fold([0.0; 3], |sum, term| {
                let x = term.at(instant);
                [sum[0] + x[0], sum[1] + x[1], sum[2] + x[2]]
            }),
        }
    }

    /// The same signal, higher by `by`.
    pub fn shifted(&self, by: f64) -> Self {
        let mut signal = self.clone();
        match &mut signal {
            Self::Constant(c) => *c += by,
            Self::Ramp { start, .. } => *start += by,
            Self::Sine { offset, .. } => *offset += by,
            Self::Table { values, .. } | Self::Pieces { values, .. } => values.iter_mut().for_each(|v| *v += by),
            Self::Sum { terms, .. } => terms.push(Self::Constant(by)),
        }
        signal
    }

    /// Times at which a derivative may jump.
    pub fn breakpoints(&self) -> &[f64] {
        match self {
            Self::Table { times, .. } | Self::Pieces { times, .. } | Self::Sum { times, .. } => times,
            _ => &[],
        }
    }
}

/// Second derivatives of the spline through the points with zero slope at both ends (tridiagonal elimination).
fn clamped_spline(x: &[f64], y: &[f64]) -> Vec<f64> {
    let n = x.len();
    let (mut upper, mut m) = (vec![0.0; n], vec![0.0; n]);
    let slope = |k: usize| (y[k + 1] - y[k]) / (x[k + 1] - x[k]);
    let mut carry = 0.0;
    for k in 0..n {
        let left = if k > 0 { x[k] - x[k - 1] } else { 0.0 };
        let right = if k + 1 < n { x[k + 1] - x[k] } else { 0.0 };
        let rise = |ok: bool, j: usize| if ok { slope(j) } else { 0.0 };
        let rhs = 6.0 * (rise(k + 1 < n, k) - rise(k > 0, k.saturating_sub(1)));
        let pivot = 2.0 * (left + right) - left * if k > 0 { upper[k - 1] } else { 0.0 };
        upper[k] = right / pivot;
        carry = (rhs - left * carry) / pivot;
        m[k] = carry;
    }
    for k in (0..n.saturating_sub(1)).rev() {
        m[k] -= upper[k] * m[k + 1];
    }
    m
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(interpolation: scene::Interpolation) -> Signal {
        let (times, values) = (vec![0.0, 0.5, 1.25, 1.5], vec![0.3, -0.5, 0.2, 0.8]);
        let varying = scene::Varying::Table { times, values, interpolation: Some(interpolation) };
        Signal::build(&scene::Signal::Varying(varying), interpolation)
    }

    #[test]
    fn splines_pass_through_their_points_smoothly() {
        let signal = table(scene::Interpolation::Cubic);
        for (t, x) in [(0.0, 0.3), (0.5, -0.5), (1.25, 0.2), (1.5, 0.8)] {
            assert!((signal.at(Instant::now(t))[0] - x).abs() < 1e-14);
        }
        for knot in [0.5, 1.25] {
            // From both sides of an inner knot: the same value, slope and curvature, up to rounding.
            let left = signal.at(Instant { time: knot, inside: knot - 1e-3 });
            let right = signal.at(Instant { time: knot, inside: knot + 1e-3 });
            assert!((0..3).all(|k| (left[k] - right[k]).abs() < 1e-12), "{left:?} {right:?}");
        }
        // At rest at both ends, so that holding the last value costs no impulse.
        let (first, last) = (Instant::now(0.0), Instant { time: 1.5, inside: 1.4 });
        assert!(signal.at(first)[1].abs() < 1e-13 && signal.at(last)[1].abs() < 1e-13);
        assert!(signal.at(last)[2].abs() > 1.0 && signal.at(Instant::now(1.5)) == [0.8, 0.0, 0.0]);
    }

    #[test]
    fn jumps_are_read_from_the_side_that_is_asked() {
        let pulse = scene::Varying::Pulse { start: 1.0, duration: 0.5, value: 3.0, offset: 1.0 };
        let step = scene::Varying::Step { time: 1.25, before: 0.0, after: 10.0 };
        let ramp = scene::Varying::Ramp { start: 0.0, rate: 2.0 };
        let sum = scene::Signal::Varying(scene::Varying::Sum { terms: vec![pulse, step, ramp] });
        let signal = Signal::build(&sum, scene::Interpolation::Linear);
        assert_eq!(signal.breakpoints(), [1.0, 1.25, 1.5]);
        for (time, inside, value) in
            [(0.5, 0.5, 1.0), (1.0, 0.9, 1.0), (1.0, 1.1, 3.0), (1.25, 1.2, 3.0), (1.25, 1.3, 13.0), (2.0, 2.0, 11.0)]
        {
            assert_eq!(signal.at(Instant { time, inside }), [value + 2.0 * time, 2.0, 0.0]);
        }
    }

    #[test]
    fn derivatives_are_derivatives() {
        let sine = Signal::Sine { amplitude: 0.7, angular_frequency: 3.0, phase: 0.4, offset: 0.1 };
        for signal in [table(scene::Interpolation::Cubic), table(scene::Interpolation::Linear), sine] {
            for t in [0.21, 0.77, 1.33] {
                // Central differences: error h² times a third derivative below 1e3.
                let h = 1e-5;
                let (a, b) = (signal.at(Instant::now(t - h)), signal.at(Instant::now(t + h)));
                let [_, rate, acceleration] = signal.at(Instant::now(t));
                assert!(((b[0] - a[0]) / (2.0 * h) - rate).abs() < 1e-6);
                assert!(((b[1] - a[1]) / (2.0 * h) - acceleration).abs() < 1e-6);
            }
        }
    }
}
