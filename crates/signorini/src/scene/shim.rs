//! Temporary.
use super::*;
use crate::spatial::{Mat3, Vec3};
#[allow(missing_docs)]
pub struct MassProperties {
    pub mass: f64,
    pub com: Vec3,
    pub inertia: Mat3,
}
impl Body {
    #[allow(missing_docs)]
    pub fn mass_properties(&self) -> Result<MassProperties, String> {
        let i = self.inertia.clone().unwrap();
        let g = |k: usize| i.get(k).copied().unwrap_or(0.0);
        Ok(MassProperties {
            mass: self.mass.unwrap(),
            com: self.com.unwrap_or_default().into(),
            inertia: Mat3::new(g(0), g(3), g(4), g(3), g(1), g(5), g(4), g(5), g(2)),
        })
    }
}
impl Joint {
    #[allow(missing_docs)]
    pub fn axes(&self) -> (Vec3, Vec3) {
        let u = self.kind == JointKind::Universal;
        let a = Vec3::from(self.axis.unwrap_or(if u { [1., 0., 0.] } else { [0., 0., 1.] })).normalize();
        let d = crate::spatial::rotation_from_z(&a) * Vec3::x();
        let b = self.axis2.map(Vec3::from).unwrap_or(if u { Vec3::y() } else { d }).normalize();
        (a, b)
    }
}
