//! Dot products in a fixed order of additions: fast, and the same bits every time.

/// A dot product in eight interleaved sums, so that it vectorises.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let tail: f64 = a8.remainder().iter().zip(b8.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a8.zip(b8) {
        for k in 0..8 {
            sums[k] += x[k] * y[k];
        }
    }
    fold(sums) + tail
}

/// The same dot product and, beside it, the sum of the absolute products: the numbers are read once.
pub fn dot_with_abs(a: &[f64], b: &[f64]) -> (f64, f64) {
    let (mut sums, mut sizes) = ([0.0; 8], [0.0; 8]);
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let (mut tail, mut tail_size) = (0.0, 0.0);
    for (x, y) in a8.remainder().iter().zip(b8.remainder()) {
        tail += x * y;
        tail_size += (x * y).abs();
    }
    for (x, y) in a8.zip(b8) {
        for k in 0..8 {
            let product = x[k] * y[k];
            sums[k] += product;
            sizes[k] += product.abs();
        }
    }
    (fold(sums) + tail, fold(sizes) + tail_size)
}

fn fold(s: [f64; 8]) -> f64 {
    ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]))
}

/// Σ f(a_k x[j_k]) in four interleaved sums, so that additions need not wait for each other.
pub fn gather_dot(a: &[f64], columns: &[usize], x: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    let mut sums = [0.0; 4];
    let (a4, c4) = (a.chunks_exact(4), columns.chunks_exact(4));
    let rest = a4.remainder().iter().zip(c4.remainder());
    let tail: f64 = rest.map(|(a, j)| f(a * x[*j])).sum();
    for (a, j) in a4.zip(c4) {
        for k in 0..4 {
            sums[k] += f(a[k] * x[j[k]]);
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + tail
}

/// The same sum of products and, beside it, of their absolute values.
pub fn gather_dot_with_abs(a: &[f64], columns: &[usize], x: &[f64]) -> (f64, f64) {
    let (mut sums, mut sizes) = ([0.0; 4], [0.0; 4]);
    let (a4, c4) = (a.chunks_exact(4), columns.chunks_exact(4));
    let (mut tail, mut tail_size) = (0.0, 0.0);
    for (a, j) in a4.remainder().iter().zip(c4.remainder()) {
        tail += a * x[*j];
        tail_size += (a * x[*j]).abs();
    }
    for (a, j) in a4.zip(c4) {
        for k in 0..4 {
            let product = a[k] * x[j[k]];
            sums[k] += product;
            sizes[k] += product.abs();
        }
    }
    let fold = |s: [f64; 4]| (s[0] + s[2]) + (s[1] + s[3]);
    (fold(sums) + tail, fold(sizes) + tail_size)
}
