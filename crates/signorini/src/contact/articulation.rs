//! Where a Delassus matrix comes from: W = J M⁻¹ Jᵀ, M the inertia of bodies and trees of links.
//!
//! A problem that knows this can be solved in the velocities of its links, of which there may be far fewer than pairs of contacts
//! (`solve/tree_lu.rs`). W itself says it all; this only says it in another, sparse way.

/// No parent: a link that hangs on the ground.
const GROUND: u32 = u32::MAX;

/// Trees of links in world axes, each link at its own origin, with what contacts do to them. Six numbers are a motion
/// (angular, linear) or what acts along it (moment, force).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Articulation {
    parents: Vec<u32>,
    /// From the parent's origin to the link's.
    offsets: Vec<[f64; 3]>,
    inertias: Vec<[[f64; 6]; 6]>,
    /// First speed of each link, and the number of speeds.
    first_speed: Vec<usize>,
    /// Unit motion of each speed at its link's origin, and inertia along it that no link has.
    motions: Vec<[f64; 6]>,
    armatures: Vec<f64>,
    /// First end of each contact, and the number of ends.
    first_end: Vec<usize>,
    ends: Vec<End>,
}

/// What a contact does to one link or one speed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum End {
    /// Rows of J, of which those beyond the contact's dimension are not read.
    Link(usize, [[f64; 6]; 3]),
    /// One row: a speed of a link, times a sign.
    Speed(usize, usize, f64),
}

impl End {
    /// The link that is touched, or that has the speed.
    pub fn link(&self) -> usize {
        match self {
            End::Link(link, _) | End::Speed(link, ..) => *link,
        }
    }
}

impl Articulation {
    /// Forgets everything, keeping the storage.
    pub fn clear(&mut self) {
        self.parents.clear();
        self.offsets.clear();
        self.inertias.clear();
        self.first_speed.clear();
        self.first_speed.push(0);
        self.motions.clear();
        self.armatures.clear();
        self.first_end.clear();
        self.first_end.push(0);
        self.ends.clear();
    }

    /// Adds a link; its parent must have been added before it. Its speeds follow.
    pub fn push_link(&mut self, parent: Option<usize>, offset: [f64; 3], inertia: [[f64; 6]; 6]) {
        self.parents.push(parent.map_or(GROUND, |p| p as u32));
        self.offsets.push(offset);
        self.inertias.push(inertia);
        self.first_speed.push(self.motions.len());
    }

    /// Adds a speed to the last link.
    pub fn push_speed(&mut self, motion: [f64; 6], armature: f64) {
        self.motions.push(motion);
        self.armatures.push(armature);
        if let Some(end) = self.first_speed.last_mut() {
            *end = self.motions.len();
        }
    }

    /// Adds a contact.
    pub fn push_contact(&mut self, ends: impl IntoIterator<Item = End>) {
        self.ends.extend(ends);
        self.first_end.push(self.ends.len());
    }

    /// Number of links.
    pub fn n_links(&self) -> usize {
        self.parents.len()
    }

    /// Number of contacts.
    pub fn n_contacts(&self) -> usize {
        self.first_end.len().saturating_sub(1)
    }

    /// The link that a link hangs on, which has a smaller number.
    pub fn parent(&self, link: usize) -> Option<usize> {
        Some(self.parents[link]).filter(|p| *p != GROUND).map(|p| p as usize)
    }

    /// From the parent's origin to the link's.
    pub fn offset(&self, link: usize) -> &[f64; 3] {
        &self.offsets[link]
    }

    /// Inertia at the link's origin.
    pub fn inertia(&self, link: usize) -> &[[f64; 6]; 6] {
        &self.inertias[link]
    }

    /// Speeds of a link.
    pub fn speeds(&self, link: usize) -> std::ops::Range<usize> {
        self.first_speed[link]..self.first_speed[link + 1]
    }

    /// Number of speeds.
    pub fn n_speeds(&self) -> usize {
        self.motions.len()
    }

    /// Unit motion of a speed at its link's origin.
    pub fn motion(&self, speed: usize) -> &[f64; 6] {
        &self.motions[speed]
    }

    /// Inertia along a speed that no link has.
    pub fn armature(&self, speed: usize) -> f64 {
        self.armatures[speed]
    }

    /// What a contact touches.
    pub fn ends(&self, contact: usize) -> &[End] {
        &self.ends[self.first_end[contact]..self.first_end[contact + 1]]
    }
}
