//! Ellipsoids with their axes along the coordinates, and the cones over them.
//!
//! Projections need the root of one scalar function, decreasing and convex where it is searched, so that Newton's
//! method from the left end is monotone; it stops when the step no longer changes the argument.

use super::section::{MAX_TANGENT, SectionJacobian};

/// Newton steps after which a scalar root is as good as rounding lets it be; quadratic convergence needs about ten,
/// and the slow start from a far left end gains a factor of at least 3/2 per step.
const MAX_STEPS: usize = 200;

pub(super) fn support(e: &[f64], y: &[f64]) -> f64 {
    e.iter().zip(y).map(|(e, y)| (e * y) * (e * y)).sum::<f64>().sqrt()
}

pub(super) fn support_point(e: &[f64], y: &[f64], out: &mut [f64]) {
    let h = support(e, y);
    for i in 0..y.len() {
        out[i] = if h > 0.0 { e[i] * e[i] * y[i] / h } else { 0.0 };
    }
}

/// λ ≥ 0 with Σ (e_i y_i / (e_i² + λ))² = s², for y outside sC. In units of the largest half axis.
fn multiplier(e: &[f64], s: f64, y: &[f64]) -> f64 {
    let h = support(e, y);
    // φ(λ) ≤ (h/λ)², so the root lies left of h/s; and φ(λ) ≥ (h/(e_max² + λ))².
    let e_max = e.iter().fold(0.0_f64, |m, x| m.max(*x));
    let mut lambda = (h / s - e_max * e_max).max(0.0);
    for _ in 0..MAX_STEPS {
        let (mut phi, mut slope) = (0.0, 0.0);
        for i in 0..y.len() {
            let w = e[i] * e[i] + lambda;
            if w > 0.0 {
                let t = e[i] * y[i] / w;
                phi += t * t;
                slope += t * t / w;
            }
        }
        // Newton on 1/√φ − 1/s, which is nearly linear in λ.
        let root = phi.sqrt();
        if root <= s || slope <= 0.0 {
            break;
        }
        let next = lambda + (root - s) * phi / (s * slope);
        if next <= lambda {
            break;
        }
        lambda = next;
    }
    lambda
}

fn is_inside(e: &[f64], s: f64, y: &[f64]) -> bool {
    let mut sum = 0.0;
    for i in 0..y.len() {
        if e[i] > 0.0 {
            let t = y[i] / e[i];
            sum += t * t;
        } else if y[i] != 0.0 {
            return false;
        }
    }
    sum <= s * s
}

pub(super) fn project(e: &[f64], s: f64, y: &mut [f64]) {
    if is_inside(e, s, y) {
        return;
    }
    if s <= 0.0 || support(e, y) == 0.0 {
        // Only the coordinates along vanishing axes stick out (or the section is a point).
        for i in 0..y.len() {
            y[i] = if s > 0.0 && e[i] > 0.0 { y[i] } else { 0.0 };
        }
        return;
    }
    let lambda = multiplier(e, s, y);
    for i in 0..y.len() {
        let w = e[i] * e[i] + lambda;
        y[i] = if w > 0.0 { y[i] * (e[i] * e[i] / w) } else { 0.0 };
    }
}

pub(super) fn project_with_jacobian(e: &[f64], s: f64, y: &mut [f64], jacobian: &mut SectionJacobian) {
    let dim = y.len();
    let identity = |jacobian: &mut SectionJacobian, one: f64| {
        for i in 0..dim {
            for j in 0..dim {
                jacobian.dy[i][j] = if i == j { one } else { 0.0 };
            }
            jacobian.ds[i] = 0.0;
        }
    };
    if is_inside(e, s, y) {
        identity(jacobian, 1.0);
        return;
    }
    if s <= 0.0 || support(e, y) == 0.0 {
        identity(jacobian, 0.0);
        if s <= 0.0 {
            let mut p = [0.0; MAX_TANGENT];
            support_point(e, y, &mut p[..dim]);
            jacobian.ds[..dim].copy_from_slice(&p[..dim]);
        }
        project(e, s, y);
        return;
    }
    // x_i = e_i² y_i / (e_i² + λ), Σ (x_i/e_i)² = s². With D = diag(e²/(e²+λ)) and c_i = −x_i/(e_i²+λ) = ∂x_i/∂λ,
    // g_i = x_i/e_i²: differentiating the constraint gives ∂λ/∂y = −(D g)/(g·c), ∂λ/∂s = s/(g·c).
    let lambda = multiplier(e, s, y);
    let (mut d, mut c, mut g) = ([0.0; MAX_TANGENT], [0.0; MAX_TANGENT], [0.0; MAX_TANGENT]);
    let mut gc = 0.0;
    for i in 0..dim {
        let w = e[i] * e[i] + lambda;
        if w > 0.0 {
            d[i] = e[i] * e[i] / w;
            g[i] = y[i] / w;
            y[i] *= d[i];
            c[i] = -y[i] / w;
            gc += g[i] * c[i];
        } else {
            y[i] = 0.0;
        }
    }
    for i in 0..dim {
        for j in 0..dim {
            let id = if i == j { d[i] } else { 0.0 };
            jacobian.dy[i][j] = if gc < 0.0 { id - c[i] * (d[j] * g[j]) / gc } else { id };
        }
        jacobian.ds[i] = if gc < 0.0 { c[i] * s / gc } else { 0.0 };
    }
}

/// Projection on { b ∈ a E }: (s, P_{sE}(b)), where s is the root of s − a = h(b − P_{sE}(b)).
pub(super) fn project_cone(e: &[f64], a: f64, b: &mut [f64]) -> f64 {
    if a >= 0.0 && is_inside(e, a, b) {
        return a;
    }
    let h = support(e, b);
    if a + h <= 0.0 {
        b.fill(0.0);
        return 0.0;
    }
    let s = root(a, h, |s| s - a - excess(e, s, b));
    project(e, s, b);
    s
}

/// h(b − P_{sE}(b)): with b − P = λ P/e² it is λ s.
pub(super) fn excess(e: &[f64], s: f64, b: &[f64]) -> f64 {
    if is_inside(e, s, b) { 0.0 } else { multiplier(e, s, b) * s }
}

/// Root of an increasing function f(s) = s − a − h(b − P_{sC}(b)), where h(b) is the support at s = 0: bisection with secants, since
/// f(0⁺) = −a − h < 0 and f(a + h) ≥ 0.
pub(super) fn root(a: f64, h: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (a.max(0.0), a + h);
    let mut f_low = if low > 0.0 { f(low) } else { -a - h };
    let mut f_high = f(high);
    for step in 0..MAX_STEPS {
        let mut s = low - f_low * (high - low) / (f_high - f_low);
        // Every third step halves the bracket, so that the secants cannot crawl.
        if step % 3 == 2 || !(s > low && s < high) {
            s = low + 0.5 * (high - low);
        }
        if !(s > low && s < high) {
            break;
        }
        let value = f(s);
        if value < 0.0 {
            (low, f_low) = (s, value);
        } else {
            (high, f_high) = (s, value);
        }
        if value == 0.0 {
            break;
        }
    }
    if -f_low < f_high { low } else { high }
}
