//! The container in which a report carries its numbers: a header in words, and sections of bytes, each compressed alone so that a page
//! unpacks only what it shows.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `SIGNVIEW` |
//! | 4 | version of the layout, little endian as all numbers here |
//! | 4 | length of the packed header |
//! | … | the header, JSON, packed by deflate |
//! | … | sections, packed by deflate; the header says where each begins |

use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde::Serialize;
use std::io::{self, Write};

/// Version of the layout.
pub const LAYOUT: u32 = 1;

/// What a file of this kind begins with.
pub const MAGIC: &[u8; 8] = b"SIGNVIEW";

/// Where a section lies.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// Where it begins, counted from the end of the header.
    pub offset: usize,
    /// Its length in the file.
    pub packed: usize,
    /// Its length unpacked.
    pub length: usize,
}

/// Sections under construction.
#[derive(Debug, Default)]
pub struct Sections {
    list: Vec<Section>,
    bytes: Vec<u8>,
}

impl Sections {
    /// Adds a section.
    pub fn add(&mut self, name: impl Into<String>, raw: &[u8]) -> io::Result<()> {
        let packed = deflate(raw)?;
        let (offset, length) = (self.bytes.len(), raw.len());
        self.list.push(Section { name: name.into(), offset, packed: packed.len(), length });
        self.bytes.extend_from_slice(&packed);
        Ok(())
    }

    /// Adds numbers of double precision.
    pub fn add_doubles(&mut self, name: impl Into<String>, values: &[f64]) -> io::Result<()> {
        self.add(name, &planes(values.iter().map(|x| x.to_le_bytes())))
    }

    /// Adds numbers of single precision.
    pub fn add_singles(&mut self, name: impl Into<String>, values: &[f32]) -> io::Result<()> {
        self.add(name, &planes(values.iter().map(|x| x.to_le_bytes())))
    }

    /// Adds whole numbers.
    pub fn add_counts(&mut self, name: impl Into<String>, values: &[u32]) -> io::Result<()> {
        self.add(name, &planes(values.iter().map(|x| x.to_le_bytes())))
    }

    /// Adds small whole numbers; the bits of signed ones.
    pub fn add_shorts(&mut self, name: impl Into<String>, values: &[u16]) -> io::Result<()> {
        self.add(name, &planes(values.iter().map(|x| x.to_le_bytes())))
    }

    /// Puts the file together. `header` makes the header from the list of sections.
    pub fn finish<H: Serialize>(self, header: impl FnOnce(Vec<Section>) -> H) -> io::Result<Vec<u8>> {
        let header = deflate(&serde_json::to_vec(&header(self.list)).map_err(io::Error::other)?)?;
        let length = u32::try_from(header.len()).map_err(io::Error::other)?;
        let mut file = MAGIC.to_vec();
        file.extend_from_slice(&LAYOUT.to_le_bytes());
        file.extend_from_slice(&length.to_le_bytes());
        file.extend_from_slice(&header);
        file.extend_from_slice(&self.bytes);
        Ok(file)
    }
}

fn deflate(raw: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::with_capacity(raw.len() / 2), Compression::new(7));
    encoder.write_all(raw)?;
    encoder.finish()
}

/// First bytes of all numbers, then all second bytes, and so on: bytes of one weight resemble each other, and pack better together.
fn planes<const N: usize>(numbers: impl Iterator<Item = [u8; N]> + Clone) -> Vec<u8> {
    let mut out = Vec::with_capacity(N * numbers.size_hint().0);
    for k in 0..N {
        out.extend(numbers.clone().map(|bytes| bytes[k]));
    }
    out
}

/// Bytes as text that may stand in a page [RFC 4648].
pub fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for piece in bytes.chunks(3) {
        let at = |i: usize| u32::from(piece.get(i).copied().unwrap_or(0));
        let number = at(0) << 16 | at(1) << 8 | at(2);
        for k in 0..4 {
            let letter = LETTERS[(number >> (18 - 6 * k) & 63) as usize];
            text.push(if k <= piece.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        // Test vectors of RFC 4648, section 10.
        for (plain, coded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn numbers_are_laid_out_in_planes() {
        assert_eq!(planes([0x0102u16, 0x0304].iter().map(|x| x.to_le_bytes())), [2, 4, 1, 3]);
    }
}
