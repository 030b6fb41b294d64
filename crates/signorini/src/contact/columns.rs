//! W = c Yᵀ Y: contacts seen through the speeds of a mechanism.
//!
//! The inward sweeps that find a Delassus matrix find its columns Y first, one number per row of a contact and speed that carries it
//! (`dynamics/recursive/ports.rs`). Where speeds are few, a problem that knows them can be solved there (`solve/speed_lu.rs`).

/// The columns of every contact, of three rows at most.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Columns {
    /// The factor c.
    scale: f64,
    n_speeds: usize,
    /// First entry of each contact, and the number of entries.
    first: Vec<usize>,
    entries: Vec<(usize, [f64; 3])>,
}

impl Columns {
    /// Forgets everything, keeping the storage.
    pub fn clear(&mut self, n_speeds: usize, scale: f64) {
        (self.n_speeds, self.scale) = (n_speeds, scale);
        self.first.clear();
        self.first.push(0);
        self.entries.clear();
    }

    /// Adds what a speed carries of the next contact; rows that it has not are zero.
    pub fn push(&mut self, speed: usize, values: [f64; 3]) {
        self.entries.push((speed, values));
    }

    /// Ends a contact.
    pub fn end_contact(&mut self) {
        self.first.push(self.entries.len());
    }

    /// The factor c.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Number of speeds, whether they carry something or not.
    pub fn n_speeds(&self) -> usize {
        self.n_speeds
    }

    /// Speeds that carry a contact, and what they carry of it.
    pub fn entries(&self, contact: usize) -> &[(usize, [f64; 3])] {
        &self.entries[self.first[contact]..self.first[contact + 1]]
    }
}
