//! Where a Delassus matrix comes from, if that is known. W itself says it all; this says it in another way, in which it may be smaller.

use super::articulation::Articulation;
use super::columns::Columns;

/// What is known of the mechanism behind W. All contacts must have three rows at most.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    known: Known,
    articulation: Articulation,
    columns: Columns,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Known {
    #[default]
    Nothing,
    Links,
    Speeds,
}

/// What a solver may use of it.
#[derive(Debug, Clone, Copy)]
pub enum Mechanism<'a> {
    /// Trees of links.
    Links(&'a Articulation),
    /// Columns of W's root.
    Speeds(&'a Columns),
}

impl Origin {
    /// Forgets everything, keeping the storage.
    pub fn clear(&mut self) {
        self.known = Known::Nothing;
    }

    /// To be filled: trees of links.
    pub fn start_articulation(&mut self) -> &mut Articulation {
        self.known = Known::Links;
        self.articulation.clear();
        &mut self.articulation
    }

    /// To be filled: columns W = c Yᵀ Y, with c.
    pub fn start_columns(&mut self, n_speeds: usize, scale: f64) -> &mut Columns {
        self.known = Known::Speeds;
        self.columns.clear(n_speeds, scale);
        &mut self.columns
    }

    /// What is known.
    pub fn mechanism(&self) -> Option<Mechanism<'_>> {
        match self.known {
            Known::Nothing => None,
            Known::Links => Some(Mechanism::Links(&self.articulation)),
            Known::Speeds => Some(Mechanism::Speeds(&self.columns)),
        }
    }
}
