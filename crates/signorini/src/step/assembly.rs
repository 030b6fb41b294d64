//! What assembling a mechanism found.

/// What assembling the mechanism found and changed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Assembly {
    /// Degrees of freedom: free speeds of the tree minus independent closure conditions.
    pub dof: usize,
    /// Loops, each with the name of the joint at which the engine cuts it.
    pub loops: Vec<String>,
    /// Largest gap of a loop as given, relative to the mechanism's size (angles in radians).
    pub gap: f64,
    /// Largest change of a coordinate that closing the loops took, in radians or mechanism lengths.
    pub moved: f64,
    /// Largest change of a speed that closing the loops took, over the largest speed.
    pub speed_changed: f64,
    /// Closure conditions that follow from others: joint and what it forbids.
    pub redundant: Vec<(String, String)>,
    /// Distance from a singular position: one is far, zero is at it. One for trees.
    pub regularity: f64,
}

impl Assembly {
    /// Whether anything had to be moved beyond rounding.
    pub fn has_moved(&self) -> bool {
        self.moved > 1e-12 || self.speed_changed > 1e-12
    }

    /// What the user should know: loops that were closed, redundant constraints.
    pub fn findings(&self) -> Vec<String> {
        let mut findings = Vec::new();
        if self.has_moved() {
            findings.push(format!(
                "loops were closed: gap {:.2e} as given, coordinates moved by up to {:.2e}, speeds changed by up to {:.2e} \
                 (radians or mechanism lengths; share of the largest speed)",
                self.gap, self.moved, self.speed_changed
            ));
        }
        if !self.redundant.is_empty() {
            findings.push(format!(
                "{} redundant constraints, whose forces are not unique: {}",
                self.redundant.len(),
                self.name_redundant()
            ));
        }
        findings
    }

    /// Redundant constraints by name, the first of many.
    pub fn name_redundant(&self) -> String {
        const MOST: usize = 12;
        let named = self.redundant.iter().take(MOST).map(|(joint, what)| format!("{joint} ({what})"));
        let mut names: Vec<String> = named.collect();
        if self.redundant.len() > MOST {
            names.push(format!("and {} more", self.redundant.len() - MOST));
        }
        names.join(", ")
    }
}
