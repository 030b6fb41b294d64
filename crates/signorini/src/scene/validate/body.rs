//! Materials, bodies, shapes, mass properties.

use super::numbers::Range;
use super::{Check, MAX_NAME, is_name};
use crate::scene::mass::matrix;
use crate::scene::{Body, FindingKind, GROUND, Geometry, Masses, Shape};
use nalgebra::{Matrix3, SymmetricEigen};
use std::collections::HashSet;
use std::fmt::Arguments;

/// How far the largest principal moment may exceed the sum of the others, relative to itself: inertias are often
/// written with six digits.
const TRIANGLE: f64 = 1e-5;

/// How negative a computed principal moment may be, relative to the largest: rounding of the eigenvalues.
const NEGATIVE: f64 = 1e-12;

impl<'a> Check<'a> {
    /// Every `[[material]]` and `[[body]]`.
    pub(super) fn bodies(&mut self) {
        let scene = self.scene;
        let mut seen = HashSet::new();
        for (i, material) in scene.material.iter().enumerate() {
            self.subject = Some(("material", &material.name));
            self.name(format_args!("material[{i}]"), &material.name, &mut seen);
            if let Some(density) = material.density {
                self.number(format_args!("material[{i}].density"), density, Range::NotNegative);
            }
            let friction = (material.friction.as_ref(), material.friction_frame.as_ref());
            self.surface(format_args!("material[{i}]"), friction, material.restitution);
        }
        let materials = seen;
        let mut masses = Masses::new(scene);
        let mut seen = HashSet::new();
        for (i, body) in scene.body.iter().enumerate() {
            self.subject = Some(("body", &body.name));
            let before = self.findings.len();
            let at = format_args!("body[{i}]");
            self.name(at, &body.name, &mut seen);
            self.body(at, body, &materials);
            // What follows from numbers that are wrong already would only repeat it.
            if self.findings.len() == before && body.name != GROUND {
                self.mass(at, body, &mut masses);
            }
        }
        self.subject = None;
        for body in &scene.body {
            self.bodies.insert(&body.name, body);
            let frames = body.frame.iter();
            self.frames.extend(frames.map(|frame| (body.name.as_str(), frame.name.as_str())));
        }
        if scene.body.iter().all(|body| body.name == GROUND) {
            self.add(FindingKind::Missing, format_args!("body"), "the scene has no body that can move");
        }
    }

    fn body(&mut self, at: Arguments<'_>, body: &'a Body, materials: &HashSet<&str>) {
        if body.name == GROUND {
            self.ground(at, body);
        }
        if let Some(mass) = body.mass {
            self.number(format_args!("{at}.mass"), mass, Range::Positive);
        }
        for (key, vector) in [
            ("com", body.com),
            ("position", body.position),
            ("velocity", body.velocity),
            ("angular_velocity", body.angular_velocity),
        ] {
            self.numbers(format_args!("{at}.{key}"), &vector.unwrap_or_default(), Range::Finite);
        }
        self.orientation(format_args!("{at}.orientation"), body.orientation);
        if let Some(inertia) = &body.inertia {
            self.inertia(format_args!("{at}.inertia"), inertia);
        }
        let mut seen = HashSet::new();
        for (j, frame) in body.frame.iter().enumerate() {
            self.name(format_args!("{at}.frame[{j}]"), &frame.name, &mut seen);
            self.numbers(format_args!("{at}.frame[{j}].position"), &frame.position, Range::Finite);
            self.orientation(format_args!("{at}.frame[{j}].orientation"), frame.orientation);
        }
        let mut seen = HashSet::new();
        for (j, point) in body.point.iter().enumerate() {
            let at = format_args!("{at}.point[{j}]");
            self.name(at, &point.name, &mut seen);
            self.numbers(format_args!("{at}.position"), &point.position, Range::Finite);
            self.material(format_args!("{at}.material"), point.material.as_deref(), materials);
        }
        if let Some(group) = body.group.as_ref().filter(|group| !is_name(group)) {
            self.add_with(FindingKind::BadName, format_args!("{at}.group"), "this cannot be a name", |f| {
                f.found(format!("{:?}", group.chars().take(MAX_NAME).collect::<String>()))
            });
        }
        for (j, shape) in body.shape.iter().enumerate() {
            self.shape(format_args!("{at}.shape[{j}]"), shape, body.name == GROUND, materials);
        }
    }

    /// The ground is where it is, and has no mass.
    fn ground(&mut self, at: Arguments<'_>, body: &Body) {
        for (key, is_given) in [
            ("mass", body.mass.is_some()),
            ("com", body.com.is_some()),
            ("inertia", body.inertia.is_some()),
            ("position", body.position.is_some()),
            ("orientation", body.orientation.is_some()),
            ("velocity", body.velocity.is_some()),
            ("angular_velocity", body.angular_velocity.is_some()),
        ] {
            if is_given {
                let message = "the ground does not move: its frame is the world's, and it has no mass";
                self.add_with(FindingKind::Misplaced, format_args!("{at}.{key}"), message, |f| {
                    f.allowed("`name`, `frame`, `shape`")
                });
            }
        }
    }

    fn inertia(&mut self, at: Arguments<'_>, inertia: &[f64]) {
        if !self.numbers(at, inertia, Range::Finite) {
            return;
        }
        let Ok(matrix) = matrix(inertia) else {
            self.length(
                at,
                inertia.len(),
                if inertia.len() > 3 { 6 } else { 3 },
                "`[xx, yy, zz]`, or with `xy, xz, yz`",
            );
            return;
        };
        let Some([small, middle, large]) = principal_moments(&matrix) else {
            return;
        };
        let found = || format!("{inertia:?}, principal moments {small}, {middle}, {large}");
        if small < -NEGATIVE * large.abs() || inertia.iter().take(3).any(|&x| x < 0.0) {
            self.add_with(FindingKind::Inertia, at, "a moment of inertia cannot be negative", |f| {
                f.found(found()).allowed("principal moments from zero on")
            });
        } else if large - (small + middle) > TRIANGLE * large {
            let message = "the largest principal moment exceeds the sum of the others, which no body's does";
            self.add_with(FindingKind::Inertia, at, message, |f| {
                f.found(found()).allowed(format!("at most {}", small + middle))
            });
        }
    }

    fn shape(&mut self, at: Arguments<'_>, shape: &Shape, on_ground: bool, materials: &HashSet<&str>) {
        self.numbers(format_args!("{at}.position"), &shape.position, Range::Finite);
        self.orientation(format_args!("{at}.orientation"), shape.orientation);
        if let Some(density) = shape.density {
            self.number(format_args!("{at}.density"), density, Range::NotNegative);
            if on_ground {
                self.add(FindingKind::Misplaced, format_args!("{at}.density"), "the ground has no mass");
            }
        }
        if let Some(velocity) = &shape.surface_velocity {
            self.numbers(format_args!("{at}.surface_velocity"), velocity, Range::Finite);
        }
        self.material(format_args!("{at}.material"), shape.material.as_deref(), materials);
        match &shape.geometry {
            Geometry::Sphere { radius } => {
                self.number(format_args!("{at}.radius"), *radius, Range::Extent);
            }
            Geometry::Box { size } => {
                self.numbers(format_args!("{at}.size"), size, Range::Extent);
            }
            Geometry::Capsule { radius, length } => {
                self.number(format_args!("{at}.radius"), *radius, Range::Extent);
                self.number(format_args!("{at}.length"), *length, Range::NotNegative);
            }
            Geometry::Cylinder { radius, length } => {
                self.number(format_args!("{at}.radius"), *radius, Range::Extent);
                self.number(format_args!("{at}.length"), *length, Range::Extent);
            }
            Geometry::Cone { radius, length } => {
                self.number(format_args!("{at}.radius"), *radius, Range::Extent);
                self.number(format_args!("{at}.length"), *length, Range::Extent);
            }
            Geometry::HeightField { size, columns, heights } => {
                self.height_field(at, size, *columns, heights);
                if shape.density.is_some() {
                    self.add(FindingKind::Misplaced, format_args!("{at}.density"), "a height field has no volume");
                }
            }
            Geometry::HalfSpace if !on_ground => {
                let message = "a half-space has no end and can only be part of the ground";
                self.add(FindingKind::Misplaced, format_args!("{at}.kind"), message);
            }
            Geometry::HalfSpace => {}
            Geometry::ConvexHull { points, file, scale, .. } => self.hull(at, points, file.is_some(), *scale),
            Geometry::Mesh { scale, .. } => {
                self.number(format_args!("{at}.scale"), scale.unwrap_or(1.0), Range::Positive);
            }
        }
    }

    fn material(&mut self, at: Arguments<'_>, material: Option<&str>, materials: &HashSet<&str>) {
        if let Some(material) = material
            && !materials.contains(material)
            && !self.is_full()
        {
            let names: Vec<&str> = self.scene.material.iter().map(|material| material.name.as_str()).collect();
            self.unknown_name(at, "material", material, &names);
        }
    }

    fn height_field(&mut self, at: Arguments<'_>, size: &[f64; 2], columns: usize, heights: &[f64]) {
        self.numbers(format_args!("{at}.size"), size, Range::Extent);
        self.numbers(format_args!("{at}.heights"), heights, Range::Finite);
        if columns < 2 {
            self.add_with(
                FindingKind::OutOfRange,
                format_args!("{at}.columns"),
                "a row has at least two heights",
                |f| f.found(columns.to_string()).allowed("from 2 on"),
            );
        } else if heights.len() / columns < 2 || !heights.len().is_multiple_of(columns) {
            let message = "heights fill at least two whole rows";
            self.add_with(FindingKind::WrongLength, format_args!("{at}.heights"), message, |f| {
                f.found(format!("{} heights", heights.len())).allowed(format!("a multiple of {columns}"))
            });
        }
    }

    fn hull(&mut self, at: Arguments<'_>, points: &[[f64; 3]], has_file: bool, scale: Option<f64>) {
        for (k, point) in points.iter().enumerate() {
            self.numbers(format_args!("{at}.points[{k}]"), point, Range::Finite);
        }
        match (points.is_empty(), has_file) {
            (true, false) => {
                self.add_with(FindingKind::Missing, format_args!("{at}.points"), "a hull needs points", |f| {
                    f.found("nothing").allowed("`points`, or `file`")
                })
            }
            (false, true) => {
                self.add(
                    FindingKind::Misplaced,
                    format_args!("{at}.file"),
                    "either points or a file with points, not both",
                );
            }
            _ => {}
        }
        if let Some(scale) = scale {
            self.number(format_args!("{at}.scale"), scale, Range::Positive);
            if !has_file {
                self.add(FindingKind::Misplaced, format_args!("{at}.scale"), "only a file's coordinates are scaled");
            }
        }
    }

    fn mass(&mut self, at: Arguments<'_>, body: &Body, masses: &mut Masses<'_>) {
        if let Err(finding) = masses.compute(body) {
            let at = format_args!("{at}.{}", finding.path);
            self.add_with(finding.kind, at, &finding.message, |mut f| {
                f.found = finding.found.clone();
                f.allowed = finding.allowed.clone();
                f
            });
        }
    }
}

/// Eigenvalues in increasing order.
pub(crate) fn principal_moments(inertia: &Matrix3<f64>) -> Option<[f64; 3]> {
    // Diagonal ones are exact as they stand; the iteration is only for what is not.
    let is_diagonal = inertia.m12 == 0.0 && inertia.m13 == 0.0 && inertia.m23 == 0.0;
    let mut moments: [f64; 3] = if is_diagonal {
        inertia.diagonal().into()
    } else {
        SymmetricEigen::try_new(*inertia, f64::EPSILON, 1000)?.eigenvalues.into()
    };
    moments.sort_by(f64::total_cmp);
    Some(moments)
}
