/** What the header of a pack says; written by `crates/signorini/src/report/`. */

export type Vec3 = [number, number, number];
export type Quat = [number, number, number, number];

/** A place and its axes; the quaternion is w x y z. */
export interface Frame {
  p: Vec3;
  q: Quat;
}

export interface Body {
  name: string;
  mass: number;
  origin: Vec3;
  inertia?: [Vec3, Quat];
}

export type ShapeKind = "point" | "sphere" | "box" | "capsule" | "cylinder" | "cone" | "half-space" | "mesh";

export interface Shape {
  body: number | null;
  kind: ShapeKind;
  size: number[];
  frame: Frame;
  mesh?: number;
}

export interface Joint {
  name: string;
  kind: string;
  parent: number | null;
  child: number | null;
  on_parent: Frame;
  on_child: Frame;
  lower: (number | null)[];
  upper: (number | null)[];
  is_absent: boolean;
  follows_child: boolean;
  motors: string[];
  has_spring: boolean;
}

export interface Spot {
  body: number | null;
  p: Vec3;
}

export interface Spring {
  name: string;
  a: Spot;
  b: Spot;
  length: number;
  stiffness: number;
  damping: number;
}

export interface Cast {
  gravity: Vec3;
  length: number;
  bodies: Body[];
  shapes: Shape[];
  joints: Joint[];
  springs: Spring[];
  markers: { name: string; at: Spot }[];
  meshes: [number, number][];
}

export type Quantity =
  | "angle"
  | "length"
  | "angular-speed"
  | "speed"
  | "quaternion"
  | "force"
  | "torque"
  | "contact-force"
  | "energy"
  | "relative"
  | "time"
  | "count"
  | "momentum"
  | "angular-momentum";

export interface Series {
  name: string;
  owner: string;
  quantity: Quantity;
  base: "trajectory" | "steps";
  rate?: number;
  range: [number, number] | null;
}

export interface Panel {
  title: string;
  series: number[];
  is_log: boolean;
}

export interface Happening {
  time: number;
  name: string;
  kind: string;
  target: string[];
}

export type Verdict = "note" | "fine" | "look" | "wrong";

export interface Line {
  what: string;
  value: string;
  verdict: Verdict;
  reason: string;
  rule: string;
}

/** A place where something does not fit at the start of a scene. */
export interface Misfit {
  kind: "overlap" | "gap" | "limit";
  what: string;
  at: Vec3;
  /** From the one side to the other. */
  by: Vec3;
  size: number;
}

export interface Section {
  name: string;
  offset: number;
  packed: number;
  length: number;
}

export interface Header {
  title: string;
  name: string;
  version: string;
  is_finished: boolean;
  is_smooth: boolean;
  cast: Cast;
  frames: { count: number; recorded: number; resolution: number; unseen: number };
  series: Series[];
  is_thinned: [boolean, boolean];
  left_out: number;
  panels: Panel[];
  contacts: { count: number; recorded: number; bounds: [number, number][]; usual: number } | null;
  events: Happening[];
  certificate: { lines: Line[]; settings: [string, string][] };
  verdict: Verdict;
  scene_text: string;
  misfits?: Misfit[];
  sections: Section[];
}
