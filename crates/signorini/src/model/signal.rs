//! Functions of time with two derivatives.

use crate::scene;

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
}

impl Signal {
    /// Compiles a validated scene signal; tables are `cubic` where the caller needs two derivatives.
    pub fn build(signal: &scene::Signal, default: scene::Interpolation) -> Self {
        match signal {
            scene::Signal::Constant(c) => Self::Constant(*c),
            scene::Signal::Varying(scene::Varying::Ramp { start, rate }) => Self::Ramp { start: *start, rate: *rate },
            scene::Signal::Varying(scene::Varying::Sine { amplitude, angular_frequency, phase, offset }) => {
                Self::Sine {
                    amplitude: *amplitude,
                    angular_frequency: *angular_frequency,
                    phase: *phase,
                    offset: *offset,
                }
            }
            scene::Signal::Varying(scene::Varying::Table { times, values, interpolation }) => {
                let curvatures = match interpolation.unwrap_or(default) {
                    scene::Interpolation::Linear => vec![0.0; times.len()],
                    scene::Interpolation::Cubic => clamped_spline(times, values),
                };
                Self::Table { times: times.clone(), values: values.clone(), curvatures }
            }
        }
    }

    /// Value, first and second derivative at `t`.
    pub fn at(&self, t: f64) -> [f64; 3] {
        match self {
            Self::Constant(c) => [*c, 0.0, 0.0],
            Self::Ramp { start, rate } => [start + rate * t, *rate, 0.0],
            Self::Sine { amplitude, angular_frequency: w, phase, offset } => {
                let (s, c) = (w * t + phase).sin_cos();
                [offset + amplitude * s, amplitude * w * c, -amplitude * w * w * s]
            }
            Self::Table { times, values, curvatures } => {
                let n = times.len();
                if t <= times[0] {
                    return [values[0], 0.0, 0.0];
                }
                if t >= times[n - 1] {
                    return [values[n - 1], 0.0, 0.0];
                }
                let k = times.partition_point(|&x| x <= t) - 1;
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
        }
    }

    /// Times at which a derivative may jump.
    pub fn breakpoints(&self) -> &[f64] {
        match self {
            Self::Table { times, .. } => times,
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
