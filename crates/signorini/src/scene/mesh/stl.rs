//! STL files, binary and text. Normals are ignored: the order of the corners says which side is outside.

use super::Weld;
use crate::scene::TriangleMesh;

const HEADER: usize = 84;
const FACET: usize = 50;

/// Reads an STL file.
///
/// A file is binary if its length is the one its own count of facets asks for, and text otherwise: some programs
/// start binary files with the word `solid`, which is meant to mark text.
pub(super) fn parse(bytes: &[u8]) -> Result<TriangleMesh, String> {
    let asks_for = facet_count(bytes).and_then(|n| n.checked_mul(FACET)).and_then(|n| n.checked_add(HEADER));
    if asks_for == Some(bytes.len()) {
        return binary(bytes);
    }
    let start = bytes.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(bytes.len());
    if bytes[start..].starts_with(b"solid") {
        return text(bytes);
    }
    match asks_for {
        Some(length) => Err(format!(
            "the binary STL file announces {} facets, which take {length} bytes; it has {}",
            facet_count(bytes).unwrap_or_default(),
            bytes.len()
        )),
        None => Err("the file is neither text nor binary STL: too short".into()),
    }
}

fn facet_count(bytes: &[u8]) -> Option<usize> {
    let count = bytes.get(HEADER - 4..HEADER)?;
    usize::try_from(u32::from_le_bytes(count.try_into().ok()?)).ok()
}

fn binary(bytes: &[u8]) -> Result<TriangleMesh, String> {
    let mut weld = Weld::default();
    for facet in bytes[HEADER..].chunks_exact(FACET) {
        let mut corners = [0; 3];
        for (corner, data) in corners.iter_mut().zip(facet[12..48].chunks_exact(12)) {
            let mut v = [0.0; 3];
            for (x, four) in v.iter_mut().zip(data.chunks_exact(4)) {
                *x = f64::from(f32::from_le_bytes([four[0], four[1], four[2], four[3]]));
            }
            *corner = weld.vertex(v)?;
        }
        weld.triangle(corners);
    }
    weld.finish()
}

fn text(bytes: &[u8]) -> Result<TriangleMesh, String> {
    let text = str::from_utf8(bytes).map_err(|_| "the text STL file is not UTF-8".to_owned())?;
    let mut weld = Weld::default();
    let mut corners = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let at = |what: &str| format!("line {} of the text STL file: {what}", n + 1);
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("vertex") => {
                let mut v = [0.0; 3];
                for x in &mut v {
                    let word = words.next().ok_or_else(|| at("a vertex has 3 coordinates"))?;
                    *x = word.parse().map_err(|_| at("a coordinate is not a number"))?;
                }
                corners.push(weld.vertex(v).map_err(|message| at(&message))?);
            }
            Some("endloop") => {
                let corners = std::mem::take(&mut corners);
                weld.triangle(corners.try_into().map_err(|_| at("a facet has 3 vertices"))?);
            }
            Some("solid" | "facet" | "outer" | "endfacet" | "endsolid") | None => {}
            Some(_) => return Err(at("not a line of STL")),
        }
    }
    if corners.is_empty() { weld.finish() } else { Err("the text STL file ends inside a facet".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TETRAHEDRON: [[[f32; 3]; 3]; 4] = {
        let (o, x, y, z) = ([0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]);
        [[o, y, x], [o, x, z], [o, z, y], [x, y, z]]
    };

    fn as_binary(count: u32) -> Vec<u8> {
        let mut bytes = b"solid but binary".to_vec();
        bytes.resize(80, 0);
        bytes.extend(count.to_le_bytes());
        for facet in TETRAHEDRON {
            bytes.extend([0; 12]);
            bytes.extend(facet.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
            bytes.extend([0; 2]);
        }
        bytes
    }

    fn as_text() -> String {
        let mut text = "solid tetrahedron\n".to_owned();
        for facet in TETRAHEDRON {
            text += " facet normal 0 0 0\n  outer loop\n";
            for [x, y, z] in facet {
                text += &format!("   vertex {x:e} {y} {z}\n");
            }
            text += "  endloop\n endfacet\n";
        }
        text + "endsolid tetrahedron\n"
    }

    #[test]
    fn both_forms_read_the_same() {
        let mesh = parse(&as_binary(4)).unwrap();
        assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (4, 4));
        assert_eq!(mesh, parse(as_text().as_bytes()).unwrap());
    }

    #[test]
    fn a_header_that_lies_is_refused() {
        let mut bytes = as_binary(u32::MAX);
        bytes[0] = b'X';
        let message = parse(&bytes).unwrap_err();
        assert!(message.contains("announces 4294967295 facets"), "{message}");
    }

    #[test]
    fn broken_text_is_refused_with_its_line() {
        for (from, to, expected) in [
            ("vertex 0e0 0 0", "vertex 0e0 0", "line 4 of the text STL file: a vertex has 3 coordinates"),
            ("vertex 0e0 0 0", "vertex 0e0 0 x", "line 4 of the text STL file: a coordinate is not a number"),
            ("vertex 0e0 0 0", "vertex 0e0 0 nan", "line 4 of the text STL file: a coordinate is not finite"),
            ("   vertex 0e0 0 0\n", "", "line 6 of the text STL file: a facet has 3 vertices"),
            ("facet", "face", "line 2 of the text STL file: not a line of STL"),
        ] {
            let broken = as_text().replacen(from, to, 1);
            assert_eq!(parse(broken.as_bytes()).unwrap_err(), expected);
        }
        assert_eq!(parse(b"").unwrap_err(), "the file is neither text nor binary STL: too short");
        assert_eq!(parse(b"solid nothing").unwrap_err(), "the file holds no triangles");
    }
}
