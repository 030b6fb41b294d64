//! The scenes that come with the binary.

/// Name and text of every bundled scene, by name.
pub static BUNDLED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/bundled.rs"));

/// The text of a bundled scene.
pub fn find(name: &str) -> Option<&'static str> {
    BUNDLED.iter().find(|scene| scene.0 == name).map(|scene| scene.1)
}
