//! Triangle meshes and convex hulls: from files to checked geometry.

mod closed;
mod hull;
mod obj;
mod stl;

pub use closed::{MeshError, check_closed};
pub use hull::{HullError, convex_hull};

use super::read::read_file;
use super::{Finding, FindingKind, Geometry, Scene, TriangleMesh};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Largest geometry file: some ten million triangles.
pub const MAX_MESH_BYTES: u64 = 512 << 20;

/// Most triangles of all files of a scene together, copies of different scale included.
pub const MAX_TRIANGLES: usize = 20_000_000;

/// Reads the geometry files of a scene and computes its hulls, wherever that has not been done. Shapes that use the
/// same file at the same scale share it. What could not be read stays as it was and is in the list that comes back.
pub fn load_geometry(scene: &mut Scene, base_dir: &Path) -> Vec<Finding> {
    let mut loader = Loader { base_dir, ..Loader::default() };
    for (i, body) in scene.body.iter_mut().enumerate() {
        for (j, shape) in body.shape.iter_mut().enumerate() {
            if let Err((key, kind, message)) = loader.load(&mut shape.geometry) {
                let path = format!("body[{i}].shape[{j}].{key}");
                let subject = format!("body `{}`", body.name);
                loader.findings.push(Finding::new(kind, path, message).subject(subject));
                if loader.findings.len() >= super::finding::MAX_FINDINGS {
                    return loader.findings;
                }
            }
        }
    }
    loader.findings
}

/// Key, sort and message of what went wrong.
type Refusal = (&'static str, FindingKind, String);

struct Loader<'a> {
    base_dir: &'a Path,
    files: HashMap<String, Result<Arc<TriangleMesh>, String>>,
    made: HashMap<(String, u64, bool), Arc<TriangleMesh>>,
    n_triangles: usize,
    findings: Vec<Finding>,
}

impl Default for Loader<'_> {
    fn default() -> Self {
        Self {
            base_dir: Path::new(""),
            files: HashMap::new(),
            made: HashMap::new(),
            n_triangles: 0,
            findings: Vec::new(),
        }
    }
}

impl Loader<'_> {
    fn load(&mut self, geometry: &mut Geometry) -> Result<(), Refusal> {
        match geometry {
            Geometry::Mesh { file, scale, mesh: mesh @ None } => {
                *mesh = Some(self.mesh(file, *scale, false)?);
            }
            Geometry::ConvexHull { points, file: Some(file), scale, hull: hull @ None } if points.is_empty() => {
                *hull = Some(self.mesh(file, *scale, true)?);
            }
            Geometry::ConvexHull { points, file: None, hull: hull @ None, .. } => {
                let computed = convex_hull(points).map_err(|e| ("points", FindingKind::Geometry, e.to_string()))?;
                *hull = Some(Arc::new(computed));
            }
            _ => {}
        }
        Ok(())
    }

    fn mesh(&mut self, file: &str, scale: Option<f64>, is_hull: bool) -> Result<Arc<TriangleMesh>, Refusal> {
        let scale = scale.unwrap_or(1.0);
        if !(scale.is_finite() && scale > 0.0) {
            return Err(("scale", FindingKind::OutOfRange, format!("the scale must be positive; found {scale}")));
        }
        let key = (file.to_owned(), scale.to_bits(), is_hull);
        if let Some(mesh) = self.made.get(&key) {
            return Ok(Arc::clone(mesh));
        }
        let base_dir = self.base_dir;
        let read = self.files.entry(file.to_owned()).or_insert_with(|| read_mesh(&base_dir.join(file)).map(Arc::new));
        let raw = read.as_ref().map_err(|message| ("file", FindingKind::File, message.clone()))?;
        let scaled: Vec<[f64; 3]> = raw.vertices.iter().map(|v| v.map(|x| scale * x)).collect();
        if scaled.iter().flatten().any(|x| !x.is_finite()) {
            return Err(("scale", FindingKind::NotFinite, "the scaled coordinates overflow".into()));
        }
        let mesh = if is_hull {
            convex_hull(&scaled).map_err(|e| ("file", FindingKind::Geometry, e.to_string()))?
        } else {
            let mesh = TriangleMesh { vertices: scaled, triangles: raw.triangles.clone() };
            check_closed(&mesh).map_err(|e| ("file", FindingKind::Geometry, e.to_string()))?;
            mesh
        };
        self.n_triangles += mesh.triangles.len();
        if self.n_triangles > MAX_TRIANGLES {
            let message = format!("the scene has more than {MAX_TRIANGLES} triangles");
            return Err(("file", FindingKind::TooLarge, message));
        }
        let mesh = Arc::new(mesh);
        self.made.insert(key, Arc::clone(&mesh));
        Ok(mesh)
    }
}

/// Reads an STL (text or binary) or OBJ file, by its ending.
pub fn read_mesh(path: &Path) -> Result<TriangleMesh, String> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    let parse = match ending.as_str() {
        "stl" => stl::parse,
        "obj" => obj::parse,
        _ => return Err("geometry files end in `.stl` or `.obj`".into()),
    };
    let bytes = read_file(path, MAX_MESH_BYTES).map_err(|error| format!("the file cannot be read: {error}"))?;
    parse(&bytes)
}

/// Builds a mesh with shared vertices from loose corners: equal coordinates are one vertex.
#[derive(Default)]
struct Weld {
    mesh: TriangleMesh,
    index: HashMap<[u64; 3], u32>,
}

impl Weld {
    fn vertex(&mut self, v: [f64; 3]) -> Result<u32, String> {
        if v.iter().any(|x| !x.is_finite()) {
            return Err("a coordinate is not finite".into());
        }
        // Adding zero makes −0 and 0 the same.
        let next = self.mesh.vertices.len() as u32;
        let index = *self.index.entry(v.map(|x| (x + 0.0).to_bits())).or_insert(next);
        if index == next {
            self.mesh.vertices.push(v);
        }
        Ok(index)
    }

    /// Adds a triangle, unless it has collapsed to an edge: that encloses nothing and only confuses the topology.
    fn triangle(&mut self, [a, b, c]: [u32; 3]) {
        if a != b && b != c && c != a {
            self.mesh.triangles.push([a, b, c]);
        }
    }

    fn finish(self) -> Result<TriangleMesh, String> {
        if self.mesh.triangles.is_empty() { Err("the file holds no triangles".into()) } else { Ok(self.mesh) }
    }
}
