//! The motion as binary glTF 2.0, for Blender and slides: a node for each body with its shapes, moved by an animation.
//!
//! **Problem.** Programs that make pictures and films read glTF: meshes, nodes, and channels that move nodes over time.
//!
//! **Method.** A body is a node whose translation and rotation follow the frames of the report, linear between them. Its shapes are
//! children: a unit solid scaled and turned. Unit solids and meshes are stored once. Shapes of the ground stand still. glTF has y up:
//! the node above all others turns against gravity (or z, where there is none) into y. A body that comes or goes has the scale zero
//! while it is not there. Times begin at zero.
//!
//! **Cost.** 28 bytes per body and instant.
//!
//! **Fails when** a scene has more than four gigabytes of them: the format counts with 32 bits.
//!
//! **Checked by** `crates/signorini-cli/tests/report.rs`, which reads a file back, and by Khronos' validator.

use super::frames::Placed;
use super::solid::{Solid, solids};
use super::{ReportError, choose_rows, kinematics};
use crate::model::Model;
use crate::record::{RecordError, Recording, SCENE, Table};
use crate::scene::read::read_with_source;
use crate::spatial::{Pose, Quaternion, Vec3, rotation_between};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The motion of the recording in a folder.
pub fn gltf(folder: &Path) -> Result<Vec<u8>, ReportError> {
    let recording = Recording::open(folder)?;
    let (scene, _) = read_with_source(folder.join(SCENE))?;
    let model = Model::build(&scene)?;
    let times = recording.column(Table::Trajectory, "t")?;
    let rows = choose_rows(times.len(), model.bodies().len());
    let wanted = kinematics::wanted_columns(&recording, &model);
    let columns = kinematics::Columns::read(&recording, &wanted, &rows)?;
    let poses = kinematics::find_poses(&model, &columns, rows.len());
    let start = times.first().copied().unwrap_or(0.0);
    let times: Vec<f32> = rows.iter().map(|&row| (times[row] - start) as f32).collect();
    let mut file = File::default();
    file.write(&model, &times, &poses);
    let title = scene.title.unwrap_or_default();
    let whole = file.finish(&title);
    whole.ok_or_else(|| {
        let reason = "the motion takes more than four gigabytes, which glTF cannot count".to_owned();
        RecordError::Format { action: "export", path: folder.to_path_buf(), reason }.into()
    })
}

/// A file under construction.
#[derive(Default)]
struct File {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    meshes: Vec<Value>,
    materials: Vec<Value>,
    nodes: Vec<Value>,
    channels: Vec<Value>,
    samplers: Vec<Value>,
    /// Meshes of unit solids and of the scene's, in a colour.
    known: BTreeMap<(String, usize), usize>,
    geometry: BTreeMap<String, [usize; 2]>,
}

/// Colours of bodies; the last is the ground's.
const COLOURS: [[f32; 3]; 9] = [
    [0.21, 0.38, 0.60],
    [0.74, 0.37, 0.16],
    [0.17, 0.52, 0.38],
    [0.65, 0.35, 0.52],
    [0.71, 0.53, 0.14],
    [0.29, 0.56, 0.79],
    [0.40, 0.33, 0.61],
    [0.45, 0.40, 0.33],
    [0.32, 0.34, 0.38],
];

impl File {
    fn write(&mut self, model: &Model, times: &[f32], poses: &[Vec<Option<Placed>>]) {
        for colour in COLOURS {
            let base = [colour[0], colour[1], colour[2], 1.0];
            self.materials.push(json!({ "pbrMetallicRoughness": { "baseColorFactor": base, "metallicFactor": 0.0, "roughnessFactor": 0.8 }, "doubleSided": true }));
        }
        let mut top: Vec<usize> = Vec::new();
        let all = solids(model);
        let ground =
            all.iter().filter(|solid| solid.body.is_none()).map(|solid| self.add_solid(solid)).collect::<Vec<_>>();
        top.extend(ground);
        let time = (!times.is_empty()).then(|| self.add_floats(times.iter().map(|t| [*t]), "SCALAR", true));
        for (b, body) in model.bodies().iter().enumerate() {
            let own = all.iter().filter(|solid| solid.body == Some(b));
            let children: Vec<usize> = own.map(|solid| self.add_solid(solid)).collect();
            let node = self.nodes.len();
            let mut value = json!({ "name": body.name });
            if !children.is_empty() {
                value["children"] = json!(children);
            }
            self.nodes.push(value);
            top.push(node);
            if let Some(time) = time {
                self.move_node(node, time, &poses[b]);
            }
        }
        let g = model.gravity();
        let up = if g.norm() > 0.0 { -g / g.norm() } else { Vec3::z() };
        let turn = rotation_between(&up, &Vec3::y()).unwrap_or_else(|| crate::model::joint::flip().rotation);
        let q = Quaternion::from_matrix(&turn).0;
        self.nodes.push(json!({ "name": "scene", "rotation": [q[1], q[2], q[3], q[0]], "children": top }));
    }

    /// Channels of a body. Where it is not there, it stays where it was and has no size.
    fn move_node(&mut self, node: usize, time: usize, poses: &[Option<Placed>]) {
        let first = poses.iter().flatten().next().copied();
        let Some(mut last) = first else {
            self.nodes[node]["scale"] = json!([0.0, 0.0, 0.0]);
            return;
        };
        let (mut places, mut turns, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
        for pose in poses {
            if let Some(placed) = pose {
                let orientation = placed.orientation.nearest(&last.orientation);
                last = Placed { orientation, ..*placed };
            }
            places.push([last.position.x as f32, last.position.y as f32, last.position.z as f32]);
            let q = last.orientation.normalised().0.map(|x| x as f32);
            turns.push([q[1], q[2], q[3], q[0]]);
            sizes.push([if pose.is_some() { 1.0f32 } else { 0.0 }; 3]);
        }
        let places = self.add_floats(places.into_iter(), "VEC3", false);
        self.add_channel(node, "translation", time, places, "LINEAR");
        let turns = self.add_floats(turns.into_iter(), "VEC4", false);
        self.add_channel(node, "rotation", time, turns, "LINEAR");
        if poses.iter().any(Option::is_none) {
            let sizes = self.add_floats(sizes.into_iter(), "VEC3", false);
            self.add_channel(node, "scale", time, sizes, "STEP");
        }
    }

    fn add_channel(&mut self, node: usize, path: &str, input: usize, output: usize, interpolation: &str) {
        let sampler = self.samplers.len();
        self.samplers.push(json!({ "input": input, "output": output, "interpolation": interpolation }));
        self.channels.push(json!({ "sampler": sampler, "target": { "node": node, "path": path } }));
    }

    fn add_solid(&mut self, solid: &Solid) -> usize {
        let colour = solid.body.map_or(COLOURS.len() - 1, |b| b % (COLOURS.len() - 1));
        let key = (solid.form.clone(), colour);
        let mesh = match self.known.get(&key) {
            Some(&mesh) => mesh,
            None => {
                let [vertices, triangles] = self.add_geometry(solid);
                let primitive =
                    json!({ "attributes": { "POSITION": vertices }, "indices": triangles, "material": colour });
                self.meshes.push(json!({ "primitives": [primitive] }));
                self.known.insert(key, self.meshes.len() - 1);
                self.meshes.len() - 1
            }
        };
        let Pose { rotation, translation } = solid.pose;
        let q = Quaternion::from_matrix(&rotation).0;
        let place: [f64; 3] = translation.into();
        self.nodes.push(
            json!({ "mesh": mesh, "translation": place, "rotation": [q[1], q[2], q[3], q[0]], "scale": solid.scale }),
        );
        self.nodes.len() - 1
    }

    fn add_geometry(&mut self, solid: &Solid) -> [usize; 2] {
        if let Some(&known) = self.geometry.get(&solid.form) {
            return known;
        }
        let mesh = solid.triangles();
        let vertices = self.add_floats(mesh.vertices.iter().map(|v| v.map(|x| x as f32)), "VEC3", true);
        let begin = self.bytes.len();
        let indices: Vec<u32> = mesh.triangles.iter().flatten().copied().collect();
        indices.iter().for_each(|i| self.bytes.extend_from_slice(&i.to_le_bytes()));
        self.views
            .push(json!({ "buffer": 0, "byteOffset": begin, "byteLength": self.bytes.len() - begin, "target": 34963 }));
        let view = self.views.len() - 1;
        self.accessors
            .push(json!({ "bufferView": view, "componentType": 5125, "count": indices.len(), "type": "SCALAR" }));
        let made = [vertices, self.accessors.len() - 1];
        self.geometry.insert(solid.form.clone(), made);
        made
    }

    /// Adds vectors of single precision, with their bounds where the format asks for them.
    fn add_floats<const N: usize>(
        &mut self,
        values: impl Iterator<Item = [f32; N]>,
        kind: &str,
        bounded: bool,
    ) -> usize {
        let begin = self.bytes.len();
        let (mut low, mut high, mut count) = ([f32::INFINITY; N], [f32::NEG_INFINITY; N], 0);
        for value in values {
            for k in 0..N {
                (low[k], high[k]) = (low[k].min(value[k]), high[k].max(value[k]));
                self.bytes.extend_from_slice(&value[k].to_le_bytes());
            }
            count += 1;
        }
        self.views.push(json!({ "buffer": 0, "byteOffset": begin, "byteLength": self.bytes.len() - begin }));
        let view = self.views.len() - 1;
        let mut accessor = json!({ "bufferView": view, "componentType": 5126, "count": count, "type": kind });
        if bounded && count > 0 {
            accessor["min"] = json!(low.to_vec());
            accessor["max"] = json!(high.to_vec());
        }
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// The file: a header, the words, the numbers. None where it would be too long.
    fn finish(self, title: &str) -> Option<Vec<u8>> {
        let mut words = json!({
            "asset": { "version": "2.0", "generator": format!("signorini {}", crate::record::VERSION) },
            "scene": 0,
            "scenes": [{ "name": title, "nodes": [self.nodes.len() - 1] }],
            "nodes": self.nodes,
            "materials": self.materials,
        });
        let parts = [("meshes", self.meshes), ("accessors", self.accessors), ("bufferViews", self.views)];
        for (key, list) in parts.into_iter().filter(|(_, list)| !list.is_empty()) {
            words[key] = Value::Array(list);
        }
        if !self.bytes.is_empty() {
            words["buffers"] = json!([{ "byteLength": self.bytes.len() }]);
        }
        if !self.channels.is_empty() {
            words["animations"] = json!([{ "name": "motion", "channels": self.channels, "samplers": self.samplers }]);
        }
        let mut text = words.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut numbers = self.bytes;
        numbers.resize(numbers.len().next_multiple_of(4), 0);
        let length = u32::try_from(12 + 8 + text.len() + 8 + numbers.len()).ok()?;
        let mut file = Vec::with_capacity(length as usize);
        file.extend_from_slice(b"glTF");
        for number in [2, length, text.len() as u32, 0x4E4F_534A] {
            file.extend_from_slice(&number.to_le_bytes());
        }
        file.extend_from_slice(&text);
        for number in [numbers.len() as u32, 0x004E_4942] {
            file.extend_from_slice(&number.to_le_bytes());
        }
        file.extend_from_slice(&numbers);
        Some(file)
    }
}
