//! Momentum of all bodies, from what was recorded of each: p = Σ m v, and about the world's origin L = Σ (x × m v + R I Rᵀ ω).

use super::series::{Quantity, Series, SeriesList};
use crate::model::Model;
use crate::record::{RecordError, Recording, Table};
use crate::spatial::{Quaternion, Vec3};

/// Bodies of which it is worth the reading.
const MAX_BODIES: usize = 200;

const COLUMNS: [&str; 13] = ["x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz"];

/// Adds momenta, where every body was recorded.
pub(super) fn push(recording: &Recording, model: &Model, series: &mut SeriesList) -> Result<(), RecordError> {
    let fields = recording.fields(Table::Trajectory);
    let is_recorded = |name: &str| fields.iter().any(|field| field.name == format!("{name}.wz"));
    let bodies = model.bodies();
    if bodies.is_empty() || bodies.len() > MAX_BODIES || !bodies.iter().all(|body| is_recorded(&body.name)) {
        return Ok(());
    }
    let n = series.trajectory_times().len();
    let mut sums = vec![vec![0.0; n]; 6];
    for body in bodies {
        let names: Vec<String> = COLUMNS.iter().map(|suffix| format!("{}.{suffix}", body.name)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let columns = recording.columns(Table::Trajectory, &names)?;
        for row in 0..n.min(columns[0].len()) {
            let at = |first: usize| Vec3::new(columns[first][row], columns[first + 1][row], columns[first + 2][row]);
            let turn = Quaternion([3, 4, 5, 6].map(|k| columns[k][row])).normalised().to_matrix();
            let (x, v, w) = (at(0), at(7), at(10));
            let p = v * body.mass;
            let l = x.cross(&p) + turn * body.central.times(&(turn.transpose() * w));
            // A body that is not there has none.
            for k in (0..3).filter(|_| p.iter().chain(&l).all(|x| x.is_finite())) {
                sums[k][row] += p[k];
                sums[k + 3][row] += l[k];
            }
        }
    }
    let letters = ["x", "y", "z"];
    for (k, sum) in sums.iter().enumerate() {
        let (name, quantity) =
            if k < 3 { ("momentum", Quantity::Momentum) } else { ("angular momentum", Quantity::AngularMomentum) };
        series.push_trajectory(Series::new(format!("{name} {}", letters[k % 3]), quantity, ""), sum);
    }
    Ok(())
}
