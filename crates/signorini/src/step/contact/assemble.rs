//! From a mechanism in contact to a contact problem.
//!
//! **Problem.** Everything that may push during a step, points that touch, joints at their limits, joints with dry friction, as rows of
//! one contact problem u = G r + u_free.
//!
//! **Method.** Each is a port of the mechanism, so G has the size of the contacts, whatever the number of joints (paper 000, eq. 24–32:
//! what is left at the root). Loops stay closed exactly. The formulation decides on the route: inward sweeps of the
//! recursion (`dynamics/recursive/ports.rs`), ports that clusters carry open to the root (`clusters.rs`), or one solve of the
//! oracle per row (`oracle.rs`).
//!
//! **Cost.** By the recursion O(depth) per row, and six multiplications per pair of rows that share a mechanism.
//!
//! **Fails when** never.
//!
//! **Checked by** `tests/contact_motion.rs`: the three routes agree.

use super::clusters::Clusters;
use super::oracle::Oracle;
use super::{Attachment, ContactConstraint, find_row_velocities};
use crate::contact::articulation::{Articulation, End};
use crate::contact::cone::MAX_DIM;
use crate::contact::delassus::BlockMatrix;
use crate::contact::origin::Origin;
use crate::contact::solve::Reason;
use crate::contact::{Cone, RowShape};
use crate::dynamics::recursive::ports::{MAX_ROWS, Ports};
use crate::dynamics::tree::Tree;
use crate::dynamics::{System, Workspace};
use crate::scene::Formulation;
use crate::spatial::{Twist, Vec3, Wrench};
use crate::step::StepError;

/// A mechanism with no more speeds is small; with no more rows W is small enough.
const FEW_SPEEDS: usize = crate::contact::solve::MOST_SPEEDS;
const FEW_ROWS: usize = 12;

/// Links are of no use with fewer rows, and where W's elimination takes less than so many multiplications per link.
const MANY_ROWS: usize = 61;
const LINK_WORK: usize = 150;

/// How impulses are turned into velocities.
enum Route {
    Recursion(Box<Sweeps>),
    Clusters(Box<Clusters>),
    Oracle(Box<Oracle>),
}

/// Rows of one step, in storage that is reused.
pub(crate) struct Rows {
    route: Route,
    /// First row of everything that may push, and the number of rows.
    offsets: Vec<usize>,
    /// Velocities of the links at some speeds.
    pub twists: Vec<Twist>,
    /// Where each speed of the tree is among those that are free.
    speeds: Vec<usize>,
}

impl Rows {
    pub fn new(system: &System) -> Self {
        let n_links = system.tree.links.len();
        let route = match system.formulation {
            Formulation::Recursive => Route::Recursion(Box::new(Sweeps::new(system))),
            Formulation::Dca => Route::Clusters(Box::default()),
            Formulation::Dense => Route::Oracle(Box::default()),
        };
        Self { route, offsets: vec![0], twists: vec![Twist::default(); n_links], speeds: Vec::new() }
    }

    /// First row of everything that may push, and the number of rows.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Poses all that may push where the sweeps and factored loops of `w` are.
    pub fn assemble(
        &mut self,
        system: &System,
        touching: &[ContactConstraint],
        w: &mut Workspace,
    ) -> Result<(), StepError> {
        self.offsets.clear();
        self.offsets.push(0);
        let mut n = 0;
        self.offsets.extend(touching.iter().map(|t| {
            n += t.n_rows();
            n
        }));
        match &mut self.route {
            Route::Recursion(sweeps) => sweeps.assemble(system, touching, w),
            Route::Clusters(clusters) => clusters.assemble(system, touching, w),
            Route::Oracle(oracle) => oracle.assemble(system, touching, w)?,
        }
        Ok(())
    }

    /// G, block by block.
    pub fn write_delassus(&mut self, system: &System, out: &mut BlockMatrix) {
        match &mut self.route {
            Route::Recursion(sweeps) => sweeps.write_delassus(&system.tree, out),
            Route::Clusters(clusters) => out.set_from_dense(&self.offsets, clusters.delassus()),
            Route::Oracle(oracle) => out.set_from_dense(&self.offsets, oracle.delassus()),
        }
    }

    /// Where G comes from, where that is worth knowing: a small mechanism's speeds, or its links where rows are many for them. Returns why it
    /// was not said although it is worth knowing.
    pub fn write_origin(
        &mut self,
        system: &System,
        touching: &[ContactConstraint],
        w: &Workspace,
        out: &mut Origin,
    ) -> Option<Reason> {
        let Route::Recursion(sweeps) = &self.route else { return None };
        let n_rows = self.offsets.last().copied().unwrap_or(0);
        let too_wide = touching.iter().any(|t| t.n_rows() > 3).then_some(Reason::MechanismRows);
        if system.tree.n_v <= FEW_SPEEDS {
            if n_rows > FEW_ROWS && w.rows.is_empty() {
                if too_wide.is_some() {
                    return too_wide;
                }
                let ports = &sweeps.ports;
                let columns = out.start_columns(system.tree.n_v, 1.0 / ports.mass_unit());
                for p in 0..ports.len() {
                    ports.visit_columns(&system.tree, p, |speed, values| columns.push(speed, values));
                    columns.end_contact();
                }
            }
            return None;
        }
        let is_worth_it = n_rows >= MANY_ROWS && n_rows.pow(3) / 3 > LINK_WORK * system.tree.links.len();
        if is_worth_it && w.rows.is_empty() && too_wide.is_some() {
            return too_wide;
        }
        if is_worth_it && w.rows.is_empty() && !self.write_articulation(system, touching, w, out.start_articulation()) {
            out.clear();
        }
        None
    }

    /// Trees of links and what pushes them; false where that cannot be said.
    fn write_articulation(
        &mut self,
        system: &System,
        touching: &[ContactConstraint],
        w: &Workspace,
        out: &mut Articulation,
    ) -> bool {
        let k = &w.kinematics;
        let speeds = &mut self.speeds;
        speeds.clear();
        speeds.resize(system.tree.n_v, usize::MAX);
        for (i, link) in system.tree.links.iter().enumerate() {
            let motion = &k.links[i];
            let inertia = link.inertia.rotated(&motion.rotation).to_sym6().to_matrix().into();
            out.push_link(link.parent_index(), motion.offset.into(), inertia);
            for v in link.v_range().filter(|v| !system.tree.prescribed[*v]) {
                let s = k.unit_motion(i, link, v);
                speeds[v] = out.n_speeds();
                out.push_speed(six(&s.angular, &s.linear), k.armature[v]);
            }
        }
        for t in touching {
            match t.place {
                // What is prescribed has no speed to push.
                Attachment::Speed { speed, .. } if speeds[speed] == usize::MAX => return false,
                Attachment::Speed { link, speed } => out.push_contact([End::Speed(link, speeds[speed], t.side())]),
                Attachment::Links(_) | Attachment::Cut { .. } => {
                    let [a, b] = ends(t, system, w);
                    let end = |e: Option<(usize, Loads)>, sign: f64| {
                        e.map(|(link, [a, b, c, ..])| {
                            End::Link(link, [a, b, c].map(|r| six(&(r.moment * sign), &(r.force * sign))))
                        })
                    };
                    out.push_contact([end(a, -1.0), end(b, 1.0)].into_iter().flatten());
                }
            }
        }
        true
    }

    /// Adds M⁻¹ Wᵀ r to speeds.
    pub fn respond(&mut self, system: &System, w: &Workspace, r: &[f64], v: &mut [f64]) {
        match &mut self.route {
            Route::Recursion(sweeps) => {
                let Some(recursive) = w.engine.recursive() else { return };
                sweeps.ports.respond(recursive.swept(system, &w.kinematics), r, v);
            }
            Route::Clusters(clusters) => clusters.respond(system, w, r, v),
            Route::Oracle(oracle) => oracle.respond(r, v),
        }
    }

    /// Velocities along all rows for given speeds of the tree, at the configuration of [`Self::assemble`].
    pub fn velocities(
        &mut self,
        system: &System,
        touching: &[ContactConstraint],
        v: &[f64],
        w: &Workspace,
        out: &mut Vec<f64>,
    ) {
        w.kinematics.find_twists(&system.tree, v, &mut self.twists);
        find_row_velocities(system, w, touching, (v, &self.twists), out);
    }
}

/// The recursion's route.
struct Sweeps {
    ports: Ports,
    /// Ports of each mechanism.
    members: Vec<Vec<usize>>,
    /// Mechanisms of each port.
    roots: Vec<[usize; 2]>,
    row_start: Vec<usize>,
    columns: Vec<usize>,
    cursors: Vec<usize>,
}

impl Sweeps {
    fn new(system: &System) -> Self {
        let n_extra = system.rows().n_rotors();
        Self {
            ports: Ports::new(&system.tree, n_extra),
            members: vec![Vec::new(); system.tree.links.len()],
            roots: Vec::new(),
            row_start: Vec::new(),
            columns: Vec::new(),
            cursors: Vec::new(),
        }
    }

    fn assemble(&mut self, system: &System, touching: &[ContactConstraint], w: &Workspace) {
        let Some(recursive) = w.engine.recursive() else { return };
        let swept = recursive.swept(system, &w.kinematics);
        self.ports.clear(swept);
        for t in touching {
            match t.place {
                Attachment::Speed { link, speed } => {
                    self.ports.push_speed(swept, link, speed, t.side());
                }
                Attachment::Links(links) if t.rows == RowShape::POINT => {
                    self.ports.push_point(swept, links, &t.points, &t.directions());
                }
                Attachment::Links(_) | Attachment::Cut { .. } => {
                    let n = t.n_rows();
                    let ends = ends(t, system, w);
                    let [a, b] = [&ends[0], &ends[1]].map(|e| e.as_ref().map(|(l, rows)| (*l, &rows[..n])));
                    self.ports.push_links(swept, a, b);
                }
            }
        }
        if !w.rows.is_empty() {
            self.ports.project_out(&system.tree, &recursive.loops);
        }
        self.ports.prepare(swept);
        self.find_pattern();
    }

    /// Which ports meet: those of one mechanism.
    fn find_pattern(&mut self) {
        let Self { ports, members, row_start, columns, roots, .. } = self;
        // Mostly the same as in the last step.
        let known = roots.len();
        roots.extend((0..ports.len()).map(|p| ports.roots(p)));
        let is_same = roots[..known] == roots[known..];
        roots.drain(..known);
        if is_same && !row_start.is_empty() {
            return;
        }
        members.iter_mut().for_each(Vec::clear);
        for p in 0..ports.len() {
            let [a, b] = roots[p];
            members[a].push(p);
            if b != a {
                members[b].push(p);
            }
        }
        row_start.clear();
        row_start.push(0);
        columns.clear();
        for p in 0..ports.len() {
            let [a, b] = roots[p];
            if a == b {
                columns.extend_from_slice(&members[a]);
            } else {
                merge(&members[a], &members[b], columns);
            }
            row_start.push(columns.len());
        }
    }

    /// The lower half is the upper one's mirror image.
    fn write_delassus(&mut self, tree: &Tree, out: &mut BlockMatrix) {
        let Self { ports, row_start, columns, cursors, .. } = self;
        out.set_pattern(ports.offsets(), row_start, columns);
        cursors.clear();
        cursors.extend_from_slice(row_start);
        if let Some(slots) = out.uniform_slots_mut::<9>() {
            for p in 0..ports.len() {
                let row = cursors[p]..row_start[p + 1];
                ports.write_row(tree, p, &columns[row.clone()], &mut slots[row.clone()]);
                for slot in row {
                    let q = columns[slot];
                    if q > p {
                        let [a, b, c, d, e, f, g, h, i] = slots[slot];
                        slots[cursors[q]] = [a, d, g, b, e, h, c, f, i];
                        cursors[q] += 1;
                    }
                }
            }
            return;
        }
        let mut block = [0.0; MAX_ROWS * MAX_ROWS];
        for p in 0..ports.len() {
            ports.open(tree, p);
            let n = ports.n_rows(p);
            for slot in cursors[p]..row_start[p + 1] {
                let q = columns[slot];
                ports.block(tree, p, q, &mut block);
                let to = out.slot_mut(slot);
                let block = &block[..to.len()];
                to.copy_from_slice(block);
                if q > p {
                    let mirror = out.slot_mut(cursors[q]);
                    cursors[q] += 1;
                    transpose(n, block, mirror);
                }
            }
            ports.close(tree, p);
        }
    }
}

/// Writes a row-major block of n rows as its mirror image.
fn transpose(n: usize, block: &[f64], out: &mut [f64]) {
    let m = block.len() / n.max(1);
    for (k, row) in block.chunks_exact(m.max(1)).enumerate() {
        for (l, x) in row.iter().enumerate() {
            out[l * n + k] = *x;
        }
    }
}

/// Links that something between links pushes, first and second, with the unit wrenches of its rows on the second (on the first they are
/// opposite), each at its link's origin.
pub(super) fn ends(t: &ContactConstraint, system: &System, w: &Workspace) -> [Option<(usize, Loads)>; 2] {
    match t.place {
        Attachment::Links([a, b]) => {
            [(a, &t.points[0]), (b, &t.points[1])].map(|(link, point)| link.map(|l| (l, wrenches(l, point, t, w))))
        }
        Attachment::Cut { cut, k } => {
            let (joint, closure) = (&system.cuts[cut], &w.closures[cut]);
            let direction = closure.measures[k] * t.side();
            let row = |arm: &Vec3| {
                let mut loads = [Wrench::default(); MAX_DIM];
                loads[0] = direction.shifted(arm);
                loads
            };
            [joint.parent.map(|l| (l, row(&closure.parent_arm))), joint.child.map(|l| (l, row(&closure.child_arm)))]
        }
        Attachment::Speed { .. } => [None, None],
    }
}

/// Cones of all that may push.
pub(crate) fn write_cones(system: &System, touching: &[ContactConstraint], out: &mut Vec<Cone>) {
    let laws = system.model.laws().laws();
    out.clear();
    out.extend(touching.iter().map(|t| t.cone(laws)));
}

/// Two ascending lists as one, each number once.
fn merge(a: &[usize], b: &[usize], out: &mut Vec<usize>) {
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let (x, y) = (a.get(i).copied().unwrap_or(usize::MAX), b.get(j).copied().unwrap_or(usize::MAX));
        out.push(x.min(y));
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
}

/// Unit loads of the rows of one contact; zero beyond them.
pub(super) type Loads = [Wrench; MAX_DIM];

/// Rows of a contact at a point as wrenches on a link at its origin.
fn wrenches(link: usize, point: &Vec3, t: &ContactConstraint, w: &Workspace) -> Loads {
    let arm = point - w.kinematics.origin[link];
    std::array::from_fn(|k| if k < t.n_rows() { t.wrench(k, &arm) } else { Wrench::default() })
}

fn six(a: &Vec3, b: &Vec3) -> [f64; 6] {
    [a.x, a.y, a.z, b.x, b.y, b.z]
}
