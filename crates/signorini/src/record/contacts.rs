//! The table of contacts: one row per contact of a step.
//!
//! | columns | meaning |
//! |---|---|
//! | `t` | end of the step |
//! | `id` | which contact: numbers of the two shapes and of the feature, the same from step to step |
//! | `body_a`, `body_b` | names of the bodies |
//! | `px py pz` | point, world |
//! | `nx ny nz`, `t1x t1y t1z` | normal from a to b, first tangent; the second is n × t₁ |
//! | `gap` | at the start of the step |
//! | `pn pt1 pt2`, `spin` | impulse on b over the step along n, t₁, t₂, and about n |
//! | `un ut1 ut2` | velocity of b's surface against a's at the end of the step |
//! | `mode` | `open`, `stick` or `slip` |
//! | `mt1 mt2`, `wn` | impulse about t₁, t₂; angular velocity about n where friction resists it |

use super::table::{Chunk, Column, Field};
use crate::scene::GROUND;
use crate::step::ContactReport;

/// Columns of numbers before the mode.
const NUMBERS: [&str; 17] =
    ["px", "py", "pz", "nx", "ny", "nz", "t1x", "t1y", "t1z", "gap", "pn", "pt1", "pt2", "spin", "un", "ut1", "ut2"];

/// Columns of numbers after it.
const MOMENTS: [&str; 3] = ["mt1", "mt2", "wn"];

/// The columns.
pub(crate) fn contact_fields() -> Vec<Field> {
    let mut fields = vec![Field::float("t")];
    fields.extend(["id", "body_a", "body_b"].map(Field::text));
    fields.extend(NUMBERS.map(Field::float));
    fields.push(Field::text("mode"));
    fields.extend(MOMENTS.map(Field::float));
    fields
}

/// Adds a contact of a step that ended at `time`. `bodies` are the names in scene order, the ground left out.
pub(crate) fn push_contact(rows: &mut Chunk, time: f64, contact: &ContactReport, bodies: &[String]) {
    let name = |body: usize| {
        let name = contact.bodies[body].map_or(Some(GROUND), |id| bodies.get(id.index()).map(String::as_str));
        name.unwrap_or_default().to_owned()
    };
    let mut words = [find_id(contact.id), name(0), name(1), contact.mode.name().to_owned()].into_iter();
    let [n, t1, p] = [contact.normal, contact.tangent, contact.point];
    let places = [time].into_iter().chain(p).chain(n).chain(t1).chain([contact.gap]);
    let [spin, mt1, mt2] = contact.moment;
    let loads = contact.impulse.into_iter().chain([spin]);
    let mut numbers = places.chain(loads).chain(contact.velocity).chain([mt1, mt2, contact.turn[0]]);
    for column in &mut rows.columns {
        match column {
            Column::Text(column) => column.push(words.next().unwrap_or_default()),
            column => column.push_number(numbers.next().unwrap_or(f64::NAN), false),
        }
    }
}

/// Shape of a, shape of b, feature: `0-3-1f`. Shapes are numbered as the model has them, those of the ground first.
fn find_id([pair, feature]: [u64; 2]) -> String {
    format!("{}-{}-{feature:x}", pair >> 32, pair & 0xffff_ffff)
}
