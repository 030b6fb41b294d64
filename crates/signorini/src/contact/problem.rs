//! The contact problem as a value.

use std::sync::Arc;

use super::cone::{Cone, Section};
use super::delassus::{BlockMatrix, Delassus};
use super::error::ContactError;
use super::origin::Origin;

/// Find r with u = W r + u_free such that every contact obeys its law.
///
/// Cheap to clone: the operator is shared.
#[derive(Debug, Clone)]
pub struct ContactProblem {
    name: String,
    delassus: Arc<dyn Delassus>,
    /// Where the operator comes from, if that is known.
    origin: Arc<Origin>,
    free_velocity: Vec<f64>,
    cones: Vec<Cone>,
    offsets: Vec<usize>,
}

/// The families of problems that the stored format names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Unilateral rows only.
    Lcp,
    /// Unilateral and bilateral rows.
    Mlcp,
    /// Planar Coulomb contacts.
    Planar,
    /// Coulomb contacts in space.
    Spatial,
    /// Coulomb contacts with rolling friction.
    Rolling,
    /// Anything else.
    General,
}

impl Default for ContactProblem {
    /// A problem without contacts.
    fn default() -> Self {
        Self {
            name: String::new(),
            delassus: Arc::new(BlockMatrix::default()),
            origin: Arc::default(),
            free_velocity: Vec::new(),
            cones: Vec::new(),
            offsets: vec![0],
        }
    }
}

impl ContactProblem {
    /// Poses a problem; sizes, finiteness and the parameters of every law are checked.
    pub fn build(
        delassus: impl Delassus + 'static,
        free_velocity: Vec<f64>,
        cones: Vec<Cone>,
    ) -> Result<Self, ContactError> {
        let mut offsets = Vec::with_capacity(cones.len() + 1);
        offsets.push(0);
        let mut n = 0;
        for (index, cone) in cones.iter().enumerate() {
            if let Some((value, allowed)) = cone.find_fault() {
                return Err(ContactError::Range { what: "contact law", index, value, allowed });
            }
            n += cone.dim();
            offsets.push(n);
        }
        for (what, found) in
            [("rows of the Delassus operator", delassus.n_rows()), ("free velocity", free_velocity.len())]
        {
            if found != n {
                return Err(ContactError::Size { what, found, expected: n });
            }
        }
        check_finite("free velocity", &free_velocity)?;
        let mut diagonal = vec![0.0; n];
        delassus.write_diagonal(&mut diagonal);
        check_finite("diagonal of the Delassus operator", &diagonal)?;
        Ok(Self {
            name: String::new(),
            delassus: Arc::new(delassus),
            origin: Arc::default(),
            free_velocity,
            cones,
            offsets,
        })
    }

    /// Poses another problem in the storage of this one: `write` fills W in blocks, the free velocity and the laws.
    pub fn refill(
        &mut self,
        write: impl FnOnce(&mut BlockMatrix, &mut Vec<f64>, &mut Vec<Cone>),
    ) -> Result<(), ContactError> {
        if Arc::get_mut(&mut self.delassus).and_then(|d| d.as_blocks_mut()).is_none() {
            self.delassus = Arc::new(BlockMatrix::default());
        }
        let Some(blocks) = Arc::get_mut(&mut self.delassus).and_then(|d| d.as_blocks_mut()) else {
            return Err(ContactError::Size { what: "owners of the Delassus operator", found: 2, expected: 1 });
        };
        Arc::make_mut(&mut self.origin).clear();
        write(blocks, &mut self.free_velocity, &mut self.cones);
        let rows = blocks.n_rows();
        self.offsets.clear();
        self.offsets.push(0);
        let mut n = 0;
        for (index, cone) in self.cones.iter().enumerate() {
            if let Some((value, allowed)) = cone.find_fault() {
                return Err(ContactError::Range { what: "contact law", index, value, allowed });
            }
            n += cone.dim();
            self.offsets.push(n);
        }
        for (what, found) in [("rows of the Delassus operator", rows), ("free velocity", self.free_velocity.len())] {
            if found != n {
                return Err(ContactError::Size { what, found, expected: n });
            }
        }
        check_finite("free velocity", &self.free_velocity)?;
        for c in 0..self.cones.len() {
            if let Some(blocks) = self.delassus.as_blocks(&self.offsets) {
                check_finite("diagonal of the Delassus operator", blocks.diagonal_block(c))?;
            }
        }
        Ok(())
    }

    /// Says where the operator comes from, which solvers may use.
    pub fn refill_origin(&mut self, write: impl FnOnce(&mut Origin)) {
        write(Arc::make_mut(&mut self.origin));
    }

    /// Where the operator comes from, if that is known.
    pub fn origin(&self) -> &Arc<Origin> {
        &self.origin
    }

    /// Poses a problem from compressed sparse rows of W.
    pub fn from_csr(
        (indptr, indices, data): (&[usize], &[usize], &[f64]),
        free_velocity: Vec<f64>,
        cones: Vec<Cone>,
    ) -> Result<Self, ContactError> {
        let mut offsets = vec![0];
        let mut n = 0;
        for cone in &cones {
            n += cone.dim();
            offsets.push(n);
        }
        let sized = |what, found, expected| Err(ContactError::Size { what, found, expected });
        if indptr.len() != n + 1 {
            return sized("row pointers of W", indptr.len(), n + 1);
        }
        if indices.len() != data.len() {
            return sized("column indices of W", indices.len(), data.len());
        }
        if indptr.first() != Some(&0) || indptr.last() != Some(&data.len()) {
            return sized("entries that the row pointers of W cover", indptr.last().copied().unwrap_or(0), data.len());
        }
        if let Some(i) = (0..n).find(|i| indptr[*i] > indptr[i + 1]) {
            return sized("end of a row of W, before its start", indptr[i + 1], indptr[i]);
        }
        if let Some(&j) = indices.iter().find(|j| **j >= n) {
            return sized("column index of W, number of columns", j, n);
        }
        check_finite("W", data)?;
        Self::build(BlockMatrix::from_csr(&offsets, indptr, indices, data), free_velocity, cones)
    }

    /// A copy that shares nothing, so that this one can be filled again.
    pub fn duplicate(&self) -> Self {
        let mut blocks = BlockMatrix::default();
        self.delassus.write_blocks(&self.offsets, &mut blocks);
        Self { delassus: Arc::new(blocks), ..self.clone() }
    }

    /// Gives the problem a name, for messages and files.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The same operator and laws with another free velocity.
    pub fn with_free_velocity(&self, free_velocity: Vec<f64>) -> Result<Self, ContactError> {
        if free_velocity.len() != self.n_rows() {
            return Err(ContactError::Size {
                what: "free velocity",
                found: free_velocity.len(),
                expected: self.n_rows(),
            });
        }
        check_finite("free velocity", &free_velocity)?;
        Ok(Self { free_velocity, ..self.clone() })
    }

    /// The name, possibly empty.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The Delassus operator.
    pub fn delassus(&self) -> &dyn Delassus {
        &*self.delassus
    }

    /// u_free: the contact velocities without contact impulses.
    pub fn free_velocity(&self) -> &[f64] {
        &self.free_velocity
    }

    /// One law per contact or row.
    pub fn cones(&self) -> &[Cone] {
        &self.cones
    }

    /// First row of every contact, and the number of rows.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.free_velocity.len()
    }

    /// Number of contacts and single rows.
    pub fn n_contacts(&self) -> usize {
        self.cones.len()
    }

    /// The family of the problem.
    pub fn kind(&self) -> Kind {
        let all = |f: fn(&Cone) -> bool| self.cones.iter().all(f);
        if all(|c| matches!(c, Cone::Unilateral)) {
            Kind::Lcp
        } else if all(|c| matches!(c, Cone::Unilateral | Cone::Bilateral)) {
            Kind::Mlcp
        } else if all(|c| matches!(c, Cone::Friction(Section::Ball { dim: 1, .. }))) {
            Kind::Planar
        } else if all(|c| matches!(c, Cone::Friction(Section::Ball { dim: 2, .. }))) {
            Kind::Spatial
        } else if all(|c| matches!(c, Cone::Friction(Section::Balls { dims: [2, 2], .. }))) {
            Kind::Rolling
        } else {
            Kind::General
        }
    }

    /// u = W r + u_free.
    pub fn velocity(&self, r: &[f64], u: &mut [f64]) {
        self.delassus.apply(r, u);
        u.iter_mut().zip(&self.free_velocity).for_each(|(u, q)| *u += q);
    }
}

pub(super) fn check_finite(what: &'static str, values: &[f64]) -> Result<(), ContactError> {
    match values.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(ContactError::NotFinite { what, index, value: values[index] }),
        None => Ok(()),
    }
}
