//! OBJ files: vertices and faces. Everything else (normals, textures, groups, materials) is skipped.

use super::Weld;
use crate::scene::TriangleMesh;

/// Reads an OBJ file; polygons are cut into triangles from their first corner.
pub(super) fn parse(bytes: &[u8]) -> Result<TriangleMesh, String> {
    let text = str::from_utf8(bytes).map_err(|_| "the OBJ file is not UTF-8".to_owned())?;
    let mut weld = Weld::default();
    // Index of each `v` line after equal vertices are made one.
    let mut vertices: Vec<u32> = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let at = |what: &str| format!("line {} of the OBJ file: {what}", n + 1);
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("v") => {
                let mut v = [0.0; 3];
                for x in &mut v {
                    let word = words.next().ok_or_else(|| at("a vertex has 3 coordinates"))?;
                    *x = word.parse().map_err(|_| at("a coordinate is not a number"))?;
                }
                vertices.push(weld.vertex(v).map_err(|message| at(&message))?);
            }
            Some("f") => {
                let mut corners = words.map(|word| corner(word, &vertices));
                let mut next = || corners.next().transpose().map_err(|message| at(&message));
                let (Some(first), Some(mut last)) = (next()?, next()?) else {
                    return Err(at("a face has at least 3 corners"));
                };
                let mut n_triangles = 0;
                while let Some(this) = next()? {
                    weld.triangle([first, last, this]);
                    last = this;
                    n_triangles += 1;
                }
                if n_triangles == 0 {
                    return Err(at("a face has at least 3 corners"));
                }
            }
            _ => {}
        }
    }
    weld.finish()
}

/// A corner `v`, `v/vt`, `v//vn` or `v/vt/vn`; counted from 1, or backwards from −1.
fn corner(word: &str, vertices: &[u32]) -> Result<u32, String> {
    let number = word.split('/').next().unwrap_or_default();
    let index: i64 = number.parse().map_err(|_| "a corner is not the number of a vertex".to_owned())?;
    let from_zero = if index > 0 { index - 1 } else { vertices.len() as i64 + index };
    let vertex = usize::try_from(from_zero).ok().filter(|_| index != 0).and_then(|i| vertices.get(i));
    vertex.copied().ok_or_else(|| format!("there is no vertex {index} before this line"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUBE: &str = "\
# unit cube
v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1
vn 0 0 1
g sides
f 1 4 3 2
f 5//1 6//1 7//1 8//1
f 1/1/1 2/1/1 6/1/1 5/1/1
f -7 -6 -2 -3
f 3 4 8 7
f 4 1 5 8
";

    #[test]
    fn polygons_and_all_ways_of_naming_corners() {
        let mesh = parse(CUBE.as_bytes()).unwrap();
        assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (8, 12));
        super::super::check_closed(&mesh).unwrap();
    }

    #[test]
    fn repeated_vertices_are_one() {
        let doubled = CUBE
            .replace("vn 0 0 1", "v 0 0 0")
            .replace("f 1 4 3 2", "f 9 4 3 2")
            .replace("f -7 -6 -2 -3", "f -8 -7 -3 -4");
        let mesh = parse(doubled.as_bytes()).unwrap();
        assert_eq!(mesh, parse(CUBE.as_bytes()).unwrap());
    }

    #[test]
    fn broken_files_are_refused_with_their_line() {
        for (text, expected) in [
            ("v 0 0", "line 1 of the OBJ file: a vertex has 3 coordinates"),
            ("v 0 0 inf", "line 1 of the OBJ file: a coordinate is not finite"),
            ("v 0 0 0\nf 1 1 2", "line 2 of the OBJ file: there is no vertex 2 before this line"),
            ("v 0 0 0\nf 0 1 1", "line 2 of the OBJ file: there is no vertex 0 before this line"),
            ("v 0 0 0\nf 1 1 -2", "line 2 of the OBJ file: there is no vertex -2 before this line"),
            ("v 0 0 0\nf 1 1", "line 2 of the OBJ file: a face has at least 3 corners"),
            ("v 0 0 0\nf a 1 1", "line 2 of the OBJ file: a corner is not the number of a vertex"),
            ("v 0 0 0", "the file holds no triangles"),
        ] {
            assert_eq!(parse(text.as_bytes()).unwrap_err(), expected);
        }
    }
}
