//! Mass properties of bodies, from what is given or from shapes.
//!
//! Shapes of revolution and boxes have closed forms. Meshes are summed over the tetrahedra that their triangles make
//! with a point inside their bounding box: with corners a, b, c seen from there and d = a·(b × c), volume gains d/6, the
//! first moment d/24 (a + b + c), the second moment d/120 (aaᵀ + bbᵀ + ccᵀ + (a + b + c)(a + b + c)ᵀ).
//! Rescaling lengths and masses by powers of two changes no bits but the exponents'.

use super::direction::rotation;
use super::mesh::{check_closed, convex_hull};
use super::solid::Solid;
use super::{Body, Finding, FindingKind, Geometry, Material, Scene, Shape, TriangleMesh};
use FindingKind::{MassRule, Misplaced, Missing};
use nalgebra::{Matrix3, Vector3};
use std::collections::HashMap;
use std::sync::Arc;

/// Mass, where its centre is, and how it is spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MassProperties {
    /// Mass.
    pub mass: f64,
    /// Centre of mass in the body frame.
    pub com: Vector3<f64>,
    /// Inertia about the centre of mass in body axes.
    pub inertia: Matrix3<f64>,
}

/// Computes mass properties of a scene's bodies; meshes shared by many shapes are summed once.
#[derive(Debug, Default)]
pub struct Masses<'a> {
    densities: HashMap<&'a str, Option<f64>>,
    solids: HashMap<*const TriangleMesh, Solid>,
    // Keeps the meshes alive whose addresses are keys.
    held: Vec<Arc<TriangleMesh>>,
}

/// How a body's mass is given.
enum Way {
    Given(MassProperties),
    Spread(f64),
    Densities(Vec<f64>),
}

const RULE: &str = "`mass` and `inertia`; or `mass` and shapes without density; or shapes with density, and no `mass`";
const TWICE: &str = "the body's mass is given twice: as `mass`, and by density";

impl Body {
    /// Mass properties of this body, whose shapes may refer to `materials`. For the bodies of a whole scene
    /// [`Masses`] does less work.
    pub fn mass_properties(&self, materials: &[Material]) -> Result<MassProperties, Box<Finding>> {
        Masses::of_materials(materials).compute(self)
    }
}

impl<'a> Masses<'a> {
    /// For the bodies of a scene.
    pub fn new(scene: &'a Scene) -> Self {
        Self::of_materials(&scene.material)
    }

    fn of_materials(materials: &'a [Material]) -> Self {
        let densities = materials.iter().map(|material| (material.name.as_str(), material.density)).collect();
        Self { densities, ..Self::default() }
    }

    /// Mass properties of a body. A finding's path starts at the body: `inertia`, `shape[0].density`.
    ///
    /// There are three ways to give them, and anything between is refused: mass and inertia (and the centre of mass);
    /// mass, spread evenly over shapes without density; shapes with density.
    pub fn compute(&mut self, body: &Body) -> Result<MassProperties, Box<Finding>> {
        match self.find_way(body)? {
            Way::Given(given) => Ok(given),
            Way::Spread(mass) => self.sum(body, |_| 1.0)?.with_mass(mass),
            Way::Densities(densities) => self.sum(body, |j| densities[j])?.checked(),
        }
    }

    fn find_way(&self, body: &Body) -> Result<Way, Box<Finding>> {
        let wrong = |kind, path: &str, message: &str| Err(Box::new(Finding::new(kind, path, message).allowed(RULE)));
        let densities: Vec<Option<f64>> = body.shape.iter().map(|s| self.density(s)).collect();
        let own = body.shape.iter().position(|shape| shape.density.is_some());
        match (body.mass, &body.inertia) {
            (Some(mass), Some(inertia)) => match own {
                None => Ok(Way::Given(MassProperties {
                    mass,
                    com: body.com.unwrap_or_default().into(),
                    inertia: matrix(inertia)?,
                })),
                Some(j) => wrong(MassRule, &format!("shape[{j}].density"), TWICE),
            },
            (None, Some(_)) => wrong(MassRule, "inertia", "inertia is given without mass"),
            (Some(_), None) if body.shape.is_empty() => {
                wrong(Missing, "inertia", "mass is given with neither inertia nor shapes")
            }
            (None, None) if body.shape.is_empty() => wrong(Missing, "mass", "the body has no mass"),
            (_, None) if body.com.is_some() => wrong(Misplaced, "com", "the centre of mass follows from the shapes"),
            (Some(mass), None) => match (own, densities.iter().position(Option::is_some)) {
                (None, None) => Ok(Way::Spread(mass)),
                (Some(j), _) => wrong(MassRule, &format!("shape[{j}].density"), TWICE),
                (None, Some(j)) => wrong(MassRule, &format!("shape[{j}].material"), TWICE),
            },
            (None, None) => match densities.iter().position(Option::is_none) {
                None => Ok(Way::Densities(densities.into_iter().flatten().collect())),
                Some(_) if densities.iter().all(Option::is_none) => {
                    wrong(MassRule, "mass", "the body has neither mass nor density")
                }
                Some(j) => {
                    let message = "this shape has no density, while another has";
                    wrong(MassRule, &format!("shape[{j}]"), message)
                }
            },
        }
    }

    fn density(&self, shape: &Shape) -> Option<f64> {
        shape.density.or_else(|| *self.densities.get(shape.material.as_deref()?)?)
    }

    fn sum(&mut self, body: &Body, density: impl Fn(usize) -> f64) -> Result<MassProperties, Box<Finding>> {
        let mut parts = Vec::with_capacity(body.shape.len());
        for (j, shape) in body.shape.iter().enumerate() {
            let solid = self.solid(&shape.geometry).map_err(|mut finding| {
                finding.path = format!("shape[{j}].{}", finding.path);
                finding
            })?;
            parts.push(solid.moved(&rotation(shape.orientation), &shape.position.into()).times(density(j)));
        }
        Ok(Solid::sum(&parts).into())
    }

    fn solid(&mut self, geometry: &Geometry) -> Result<Solid, Box<Finding>> {
        match geometry {
            Geometry::Mesh { mesh: Some(mesh), .. } | Geometry::ConvexHull { hull: Some(mesh), .. } => {
                if let Some(solid) = self.solids.get(&Arc::as_ptr(mesh)) {
                    return Ok(*solid);
                }
                let key = geometry_key(geometry);
                check_closed(mesh).map_err(|e| Finding::new(FindingKind::Geometry, key, e.to_string()))?;
                let solid = Solid::of_mesh(mesh);
                self.solids.insert(Arc::as_ptr(mesh), solid);
                self.held.push(Arc::clone(mesh));
                Ok(solid)
            }
            Geometry::ConvexHull { points, file: None, hull: None, .. } => {
                let hull =
                    convex_hull(points).map_err(|e| Finding::new(FindingKind::Geometry, "points", e.to_string()))?;
                Ok(Solid::of_mesh(&hull))
            }
            Geometry::Mesh { .. } | Geometry::ConvexHull { .. } => {
                let message = "the geometry file has not been read (`scene::mesh::load_geometry` does)";
                Err(Finding::new(FindingKind::File, "file", message).into())
            }
            Geometry::HeightField { .. } => {
                Err(Finding::new(Misplaced, "kind", "a height field has no volume: give `mass` and `inertia`").into())
            }
            Geometry::HalfSpace => Err(Finding::new(Misplaced, "kind", "a half-space has no volume").into()),
            Geometry::Sphere { radius } => Ok(Solid::ball(*radius)),
            Geometry::Box { size } => Ok(Solid::cuboid((*size).into())),
            Geometry::Capsule { radius, length } => Ok(Solid::capsule(*radius, *length)),
            Geometry::Cylinder { radius, length } => Ok(Solid::cylinder(*radius, *length)),
            Geometry::Cone { radius, length } => Ok(Solid::cone(*radius, *length)),
        }
    }
}

fn geometry_key(geometry: &Geometry) -> &'static str {
    match geometry {
        Geometry::ConvexHull { file: None, .. } => "points",
        _ => "file",
    }
}

/// The symmetric matrix of `[xx, yy, zz]` or `[xx, yy, zz, xy, xz, yz]`.
pub(crate) fn matrix(inertia: &[f64]) -> Result<Matrix3<f64>, Box<Finding>> {
    match *inertia {
        [xx, yy, zz] => Ok(Matrix3::from_diagonal(&Vector3::new(xx, yy, zz))),
        [xx, yy, zz, xy, xz, yz] => Ok(Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)),
        _ => Err(Finding::new(FindingKind::WrongLength, "inertia", "the list has the wrong length")
            .found(format!("{} entries", inertia.len()))
            .allowed("a list of 3 or 6 numbers")
            .into()),
    }
}

impl MassProperties {
    fn with_mass(self, mass: f64) -> Result<Self, Box<Finding>> {
        let factor = mass / self.mass;
        Self { mass, com: self.com, inertia: self.inertia * factor }.checked()
    }

    fn checked(self) -> Result<Self, Box<Finding>> {
        let all = [self.mass].into_iter().chain(self.com.iter().copied()).chain(self.inertia.iter().copied());
        if self.mass > 0.0 && all.into_iter().all(f64::is_finite) {
            return Ok(self);
        }
        Err(Finding::new(
            FindingKind::OutOfRange,
            "shape",
            "the shapes' mass is zero, or too large or too small for double precision",
        )
        .found(self.mass.to_string())
        .into())
    }
}

impl From<Solid> for MassProperties {
    fn from(solid: Solid) -> Self {
        let s = solid.second;
        // Written out rather than tr(S) 1 − S, which would drown the small moment of a slender rod in the large one.
        let inertia =
            Matrix3::new(s.m22 + s.m33, -s.m12, -s.m13, -s.m12, s.m11 + s.m33, -s.m23, -s.m13, -s.m23, s.m11 + s.m22);
        Self { mass: solid.volume, com: solid.com, inertia }
    }
}
