//! Which links move together: by joints of the tree, by loops and by couplings.

use super::row::{Cut, Element};
use super::tree::Tree;

/// The first link of each link's mechanism. Links of different mechanisms do not move each other.
pub fn find(tree: &Tree, elements: &[Element], cuts: &[Cut]) -> Vec<usize> {
    let mut group: Vec<usize> = (0..tree.links.len()).collect();
    for (i, link) in tree.links.iter().enumerate() {
        group[i] = link.parent_index().map_or(i, |p| group[p]);
    }
    let mut ends = Vec::new();
    for element in elements {
        ends.clear();
        element.ends(cuts, &mut ends);
        let links: Vec<usize> = ends.iter().filter_map(|end| end.link()).collect();
        for pair in links.windows(2) {
            let (a, b) = (first(&mut group, pair[0]), first(&mut group, pair[1]));
            group[a.max(b)] = a.min(b);
        }
    }
    (0..group.len()).map(|i| first(&mut group, i)).collect()
}

fn first(group: &mut [usize], mut i: usize) -> usize {
    while group[i] != i {
        group[i] = group[group[i]];
        i = group[i];
    }
    i
}
