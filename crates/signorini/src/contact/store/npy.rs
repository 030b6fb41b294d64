//! NumPy arrays of numbers and text (`.npy`, format versions 1 to 3), as far as problem files use them.

/// An array as read or to be written.
#[derive(Debug, Clone, PartialEq)]
pub enum Array {
    /// Floating-point numbers.
    Floats {
        /// Extent per axis; empty for a single number.
        shape: Vec<usize>,
        /// Values in storage order.
        values: Vec<f64>,
    },
    /// Integers and truth values.
    Ints {
        /// Extent per axis; empty for a single number.
        shape: Vec<usize>,
        /// Values in storage order.
        values: Vec<i64>,
    },
    /// A single string.
    Text(String),
}

impl Array {
    /// A vector of numbers.
    pub fn floats(values: Vec<f64>) -> Self {
        Array::Floats { shape: vec![values.len()], values }
    }

    /// A vector of integers.
    pub fn ints(values: Vec<i64>) -> Self {
        Array::Ints { shape: vec![values.len()], values }
    }

    /// The numbers, whatever their type.
    pub fn to_floats(&self) -> Option<Vec<f64>> {
        match self {
            Array::Floats { values, .. } => Some(values.clone()),
            Array::Ints { values, .. } => Some(values.iter().map(|x| *x as f64).collect()),
            Array::Text(_) => None,
        }
    }
}

const MAGIC: &[u8] = b"\x93NUMPY";

/// Reads one array. Every length is checked against the bytes that are there before anything is allocated.
pub fn parse(bytes: &[u8]) -> Result<Array, String> {
    let rest = bytes.strip_prefix(MAGIC).ok_or("not a NumPy array (magic bytes missing)")?;
    let (major, rest) = match rest {
        [major, _minor, rest @ ..] => (*major, rest),
        _ => return Err("array header cut short".into()),
    };
    let (length, rest) = match (major, rest) {
        (1, [a, b, rest @ ..]) => (usize::from(u16::from_le_bytes([*a, *b])), rest),
        (2 | 3, [a, b, c, d, rest @ ..]) => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
        _ => return Err(format!("array format version {major}, allowed: 1, 2, 3")),
    };
    let (header, data) = rest.split_at_checked(length).ok_or("array header cut short")?;
    let header = std::str::from_utf8(header).map_err(|_| "array header is not text")?;
    let descr = quoted_after(header, "descr").ok_or("array header has no type")?;
    let shape = shape_of(header).ok_or("array header has no shape")?;
    if shape.len() > 1 && header.contains("'fortran_order': True") {
        return Err("array in column order, allowed: row order".into());
    }
    let (order, code) = descr.split_at_checked(1).ok_or("array type is empty")?;
    let big = match order {
        "<" | "|" | "=" => false,
        ">" => true,
        _ => return Err(format!("array type `{descr}` is not understood")),
    };
    let count = shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d)).ok_or("array shape overflows")?;
    let width = match code {
        "f8" | "i8" | "u8" => 8,
        "f4" | "i4" | "u4" => 4,
        "i2" | "u2" => 2,
        "i1" | "u1" | "b1" => 1,
        _ => match code.strip_prefix('U').and_then(|n| n.parse::<usize>().ok()) {
            Some(n) => n.checked_mul(4).ok_or("text is too long")?,
            None => {
                return Err(format!("array type `{descr}`, allowed: floats, integers, text"));
            }
        },
    };
    if count.checked_mul(width) != Some(data.len()) {
        return Err(format!("array data has {} bytes, its header says {count} × {width}", data.len()));
    }
    if code.starts_with('U') {
        if count != 1 {
            return Err("several strings where one is expected".into());
        }
        let text = data.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let text: Option<String> =
            text.map(|x| if big { x.swap_bytes() } else { x }).take_while(|x| *x != 0).map(char::from_u32).collect();
        return text.map(Array::Text).ok_or_else(|| "text is not Unicode".into());
    }
    let word = |b: &[u8]| {
        let mut raw = [0u8; 8];
        raw[..b.len()].copy_from_slice(b);
        if big {
            raw[..b.len()].reverse();
        }
        u64::from_le_bytes(raw)
    };
    let words = data.chunks_exact(width).map(word);
    Ok(match code {
        "f8" => Array::Floats { shape, values: words.map(f64::from_bits).collect() },
        "f4" => Array::Floats { shape, values: words.map(|x| f64::from(f32::from_bits(x as u32))).collect() },
        _ => {
            let signed = code.starts_with('i');
            let shift = 64 - 8 * width as u32;
            let int = move |x: u64| {
                if signed { ((x << shift) as i64) >> shift } else { x as i64 }
            };
            Array::Ints { shape, values: words.map(int).collect() }
        }
    })
}

/// The quoted text after a key of the header's dictionary.
fn quoted_after<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let rest = header.split_once(&format!("'{key}'"))?.1.trim_start().strip_prefix(':')?.trim_start();
    let rest = rest.strip_prefix('\'')?;
    rest.split_once('\'').map(|(text, _)| text)
}

fn shape_of(header: &str) -> Option<Vec<usize>> {
    let rest = header.split_once("'shape'")?.1.trim_start().strip_prefix(':')?.trim_start();
    let inside = rest.strip_prefix('(')?.split_once(')')?.0;
    let parts = inside.split(',').map(str::trim).filter(|s| !s.is_empty());
    parts.map(|s| s.parse().ok()).collect()
}

/// The bytes of a `.npy` file, format version 1.
pub fn write(array: &Array) -> Vec<u8> {
    let (descr, shape, data): (String, &[usize], Vec<u8>) = match array {
        Array::Floats { shape, values } => ("<f8".into(), shape, values.iter().flat_map(|x| x.to_le_bytes()).collect()),
        Array::Ints { shape, values } => ("<i8".into(), shape, values.iter().flat_map(|x| x.to_le_bytes()).collect()),
        Array::Text(text) => {
            let data: Vec<u8> = text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
            // NumPy has no strings of length zero: one NUL stands for the empty text.
            let data = if data.is_empty() { vec![0; 4] } else { data };
            (format!("<U{}", data.len() / 4), &[], data)
        }
    };
    let shape = match shape {
        [] => "()".to_string(),
        [n] => format!("({n},)"),
        many => format!("({})", many.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    };
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    // The data start on a multiple of 64 bytes.
    let unpadded = MAGIC.len() + 4 + header.len() + 1;
    header.extend(std::iter::repeat_n(' ', unpadded.next_multiple_of(64) - unpadded));
    header.push('\n');
    let mut out = MAGIC.to_vec();
    out.extend([1, 0]);
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.as_bytes());
    out.extend(data);
    out
}
