//! Friction as scenes spell it: of a material, or of a pair.

use serde::{Deserialize, Serialize};

/// Most corners of a polygon, and most half-spaces of a polyhedron.
pub const MAX_FRICTION_SIDES: usize = 256;

/// Friction of a surface or of a pair of surfaces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Friction {
    /// Coefficient μ of the disc ‖r_t‖ ≤ μ r_n.
    Coefficient(f64),
    /// Coefficients along t and o: an ellipse.
    Ellipse([f64; 2]),
    /// Another section.
    Section(Box<FrictionSection>),
}

/// A section of friction: forces along t and o and, in some, moments, per unit of normal force. One of the keys besides `mu` says which.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FrictionSection {
    /// Coefficient of friction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mu: Option<f64>,
    /// Number of corners of a regular polygon within the disc, the first along t.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub polygon: Option<u32>,
    /// Corners of a polygon: directions, each times its own coefficient.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub directions: Vec<[f64; 2]>,
    /// Limit surface (r_t/e_t)² + (r_o/e_o)² + (m_n/e_r)² ≤ μ² r_n².
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ellipsoid: Option<[f64; 3]>,
    /// Limit surface (r_t/e_t)² + (r_o/e_o)² ≤ μ² r_n² and |m_n| ≤ μ e_r r_n.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mixed: Option<[f64; 3]>,
    /// Limit surface of half-spaces α·(r_t, r_o, m_n) ≤ μ r_n.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub polyhedron: Vec<[f64; 3]>,
    /// Rolling friction ‖m_t‖ ≤ ρ r_n beside the disc: the length ρ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rolling: Option<f64>,
}

/// Directions t and o of a section, fixed in a body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrictionFrame {
    /// Name of the body, or `ground`.
    pub body: String,
    /// Axis of the body whose part across the normal is t; o is the normal times t.
    pub direction: [f64; 3],
}

/// What the numbers of a section may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Allowed {
    Finite,
    NotNegative,
    Positive,
}

/// A key that says what a section is.
pub(super) struct Given<'a> {
    pub key: &'static str,
    pub numbers: &'a [f64],
    pub allowed: Allowed,
    /// Number of sides, and the least, where it has some.
    pub sides: Option<[usize; 2]>,
    /// Whether it has coefficients of its own, so that `mu` says nothing.
    pub has_own_mu: bool,
}

impl FrictionSection {
    /// Keys that may say what a section is.
    pub(super) const KEYS: [&'static str; 6] = ["polygon", "directions", "ellipsoid", "mixed", "polyhedron", "rolling"];

    /// Those that do.
    pub(super) fn given(&self) -> Vec<Given<'_>> {
        use Allowed::{Finite, NotNegative, Positive};
        let (corners, planes) = (self.directions.as_flattened(), self.polyhedron.as_flattened());
        let sides = |n: usize, least: usize| Some([n, least]);
        let corner_sides = sides(self.directions.len(), 3).filter(|_| !corners.is_empty());
        let plane_sides = sides(self.polyhedron.len(), 4).filter(|_| !planes.is_empty());
        let three = |e: &'_ Option<[f64; 3]>| e.is_some();
        let all = [
            ("polygon", self.polygon.is_some(), &[][..], Finite, self.polygon.map(|n| [n as usize, 3])),
            ("directions", !corners.is_empty(), corners, Finite, corner_sides),
            ("ellipsoid", three(&self.ellipsoid), self.ellipsoid.as_ref().map_or(&[][..], |e| e), Positive, None),
            ("mixed", three(&self.mixed), self.mixed.as_ref().map_or(&[][..], |e| e), Positive, None),
            ("polyhedron", !planes.is_empty(), planes, Finite, plane_sides),
            ("rolling", self.rolling.is_some(), self.rolling.as_slice(), NotNegative, None),
        ];
        let given = all.into_iter().filter(|(_, is_given, ..)| *is_given);
        given
            .map(|(key, _, numbers, allowed, sides)| Given {
                key,
                numbers,
                allowed,
                sides,
                has_own_mu: key == "directions",
            })
            .collect()
    }
}

impl Friction {
    /// Whether there is none.
    pub fn is_none(&self) -> bool {
        match self {
            Self::Coefficient(mu) => *mu == 0.0,
            Self::Ellipse(mu) => *mu == [0.0; 2],
            Self::Section(section) => section.mu == Some(0.0) && section.rolling.is_none_or(|x| x == 0.0),
        }
    }

    /// Whether it is the same in all directions across the normal.
    pub fn is_isotropic(&self) -> bool {
        match self {
            Self::Coefficient(_) => true,
            Self::Ellipse([t, o]) => t == o,
            Self::Section(s) => {
                let round = |e: &Option<[f64; 3]>| e.is_none_or(|[t, o, _]| t == o);
                // Corners of a regular polygon may be anywhere.
                s.directions.is_empty() && s.polyhedron.is_empty() && round(&s.ellipsoid) && round(&s.mixed)
            }
        }
    }
}

impl From<f64> for Friction {
    fn from(mu: f64) -> Self {
        Self::Coefficient(mu)
    }
}

impl From<FrictionSection> for Friction {
    fn from(section: FrictionSection) -> Self {
        Self::Section(Box::new(section))
    }
}
