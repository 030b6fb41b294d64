//! Forces and torques that follow a function of time.

use super::sink::{Flow, Sink};
use super::{Configuration, Element, Sight, View};
use crate::model::{BodyId, Push, Torque};
use crate::scene::Axes;
use crate::spatial::{Vec3, Wrench};

impl Element for Push {
    fn n_scratch(&self) -> usize {
        0
    }

    fn apply(&self, see: &Sight<'_>, _: &mut [f64], out: &mut Sink<'_>) {
        let view = &see.at.view;
        let force = in_world(view, self.at.body, &self.vector, self.axes) * self.signal.at(see.now)[0];
        let (x, _) = view.point(&self.at);
        out.wrench(view, Flow::Work, self.at.body, &x, &Wrench::new(Vec3::zeros(), force));
    }

    fn potential(&self, _: &Configuration<'_>) -> f64 {
        0.0
    }
}

impl Element for Torque {
    fn n_scratch(&self) -> usize {
        0
    }

    fn apply(&self, see: &Sight<'_>, _: &mut [f64], out: &mut Sink<'_>) {
        let view = &see.at.view;
        let torque = in_world(view, self.body, &self.vector, self.axes) * self.signal.at(see.now)[0];
        let x = view.body_pose(self.body).translation;
        out.wrench(view, Flow::Work, self.body, &x, &Wrench::new(torque, Vec3::zeros()));
    }

    fn potential(&self, _: &Configuration<'_>) -> f64 {
        0.0
    }
}

fn in_world(view: &View<'_>, body: Option<BodyId>, vector: &Vec3, axes: Axes) -> Vec3 {
    match axes {
        Axes::World => *vector,
        Axes::Body => view.body_pose(body).rotation * vector,
    }
}
