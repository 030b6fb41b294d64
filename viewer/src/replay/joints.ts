/** Joints: a solid for each kind, along its axis; limits as arcs and bars; locked ones in another colour, broken ones in two halves. */

import * as three from "three";
import type { Happening, Header, Joint, Vec3 } from "../pack/header.ts";
import { findBefore } from "../pack/frames.ts";
import * as geometry from "./geometry.ts";
import { compose, IDENTITY, type Matrix, multiply, ofFrame } from "./matrix.ts";
import { BROKEN, JOINT, LOCKED } from "./palette.ts";

export type State = "absent" | "free" | "locked" | "broken";

/** States of a joint over time: from when on, and which. */
export function statesOf(joint: Joint, events: Happening[]): { times: number[]; states: State[] } {
  const times = [Number.NEGATIVE_INFINITY];
  const states: State[] = [joint.is_absent ? "absent" : "free"];
  for (const event of events) {
    if (!event.target.includes(joint.name)) continue;
    const now = states[states.length - 1];
    const next = stateAfter(event.kind, now);
    if (next !== now) {
      times.push(event.time);
      states.push(next);
    }
  }
  return { times, states };
}

function stateAfter(kind: string, now: State): State {
  switch (kind) {
    case "lock":
      return now === "absent" ? now : "locked";
    case "weld":
      return "locked";
    case "unlock":
      return now === "locked" ? "free" : now;
    case "attach":
      return "free";
    case "release":
      return now === "absent" ? now : "absent";
    case "break":
      return "broken";
    default:
      return now;
  }
}

/** Unit solids of a kind: form, and sizes in units of the glyph. */
const GLYPHS: Record<string, [string, Vec3][]> = {
  fixed: [["box", [1.1, 1.1, 1.1]]],
  revolute: [["cylinder", [0.75, 0.75, 2.6]]],
  screw: [
    ["cylinder", [0.75, 0.75, 2.6]],
    ["cylinder", [0.4, 0.4, 4.4]],
  ],
  prismatic: [["box", [1.2, 1.2, 4.5]]],
  cylindrical: [
    ["cylinder", [0.8, 0.8, 2.2]],
    ["cylinder", [0.45, 0.45, 4.8]],
  ],
  universal: [
    ["rod-x", [0.5, 0.5, 3.4]],
    ["rod-y", [0.5, 0.5, 3.4]],
  ],
  spherical: [["sphere", [1.1, 1.1, 1.1]]],
  planar: [["box", [2.4, 2.4, 0.3]]],
  free: [],
};

const TURN_X: [number, number, number, number] = [Math.SQRT1_2, 0, Math.SQRT1_2, 0];
const TURN_Y: [number, number, number, number] = [Math.SQRT1_2, -Math.SQRT1_2, 0, 0];

/** A solid of a joint on the one side, and where a broken joint's other half is. */
interface Part {
  joint: number;
  local: Matrix;
  /** Where the joint sits: on the parent, or on the child. */
  onChild: boolean;
}

const colour = new three.Color();

export class Joints {
  readonly group = new three.Group();
  readonly meshes: { mesh: three.InstancedMesh; parts: Part[] }[] = [];
  private readonly joints: Joint[];
  private readonly frames: [Matrix, Matrix][];
  private readonly timelines: { times: number[]; states: State[] }[];
  private readonly limits: { joint: number; line: three.LineSegments }[] = [];
  private readonly work = new Float32Array(16);
  private base = JOINT;
  private shown: State[] = [];

  constructor(header: Header, glyph: number) {
    this.joints = header.cast.joints;
    this.frames = this.joints.map((joint) => [ofFrame(joint.on_parent), ofFrame(joint.on_child)]);
    this.timelines = this.joints.map((joint) => statesOf(joint, header.events));
    const forms = new Map<string, Part[]>();
    this.joints.forEach((joint, j) => {
      for (const [form, size] of GLYPHS[joint.kind] ?? []) {
        const scaled = size.map((x) => x * glyph) as Vec3;
        const turn = form === "rod-x" ? TURN_X : form === "rod-y" ? TURN_Y : ([1, 0, 0, 0] as [number, number, number, number]);
        const key = form.startsWith("rod") ? "cylinder" : form;
        const part = { joint: j, local: compose([0, 0, 0], turn, scaled), onChild: joint.follows_child };
        forms.set(key, [...(forms.get(key) ?? []), part]);
      }
      // The other half of a joint that breaks.
      if (this.timelines[j].states.includes("broken")) {
        const half = compose([0, 0, 0], [1, 0, 0, 0], [glyph, glyph, glyph]);
        forms.set("octahedron", [...(forms.get("octahedron") ?? []), { joint: j, local: half, onChild: !joint.follows_child }]);
      }
      if (this.limits.length < 200) this.addLimits(joint, j, 4.2 * glyph);
    });
    const fine = geometry.fineness(2 * this.joints.length);
    const material = new three.MeshLambertMaterial({ vertexColors: true });
    for (const [form, parts] of forms) {
      const unit = { sphere: geometry.sphere, cylinder: geometry.cylinder, box: geometry.box, octahedron: geometry.octahedron }[form];
      const mesh = new three.InstancedMesh(unit?.(fine) ?? geometry.box(), material, parts.length);
      mesh.instanceMatrix.setUsage(three.DynamicDrawUsage);
      mesh.frustumCulled = false;
      this.meshes.push({ mesh, parts });
      this.group.add(mesh);
    }
  }

  /** What a joint is at a time. */
  stateAt(joint: number, time: number): State {
    const { times, states } = this.timelines[joint];
    return states[findBefore(times, time)];
  }

  set colour(base: number) {
    this.base = base;
    this.shown = [];
  }

  place(bodies: Float32Array, time: number): void {
    const states = this.joints.map((_, j) => this.stateAt(j, time));
    const isChanged = this.shown.length !== states.length || states.some((state, j) => state !== this.shown[j]);
    for (const { mesh, parts } of this.meshes) {
      const out = mesh.instanceMatrix.array as Float32Array;
      parts.forEach((part, i) => {
        const state = states[part.joint];
        const isHalf = part.onChild !== this.joints[part.joint].follows_child;
        if (state === "absent" || (isHalf && state !== "broken")) {
          out.fill(0, 16 * i, 16 * i + 16);
          return;
        }
        this.find(bodies, part.joint, part.onChild);
        multiply(this.work, 0, part.local, out, 16 * i);
      });
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null;
      if (!isChanged) continue;
      parts.forEach((part, i) => mesh.setColorAt(i, colour.setHex(this.colourOf(states[part.joint]))));
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
    this.shown = states;
    for (const { joint, line } of this.limits) {
      line.visible = states[joint] === "free";
      this.find(bodies, joint, false);
      line.matrix.fromArray(this.work);
      line.matrixWorldNeedsUpdate = true;
    }
  }

  /** Where a joint is. */
  position(bodies: Float32Array, joint: number): Vec3 {
    this.find(bodies, joint, this.joints[joint].follows_child);
    return [this.work[12], this.work[13], this.work[14]];
  }

  private colourOf(state: State): number {
    return state === "locked" ? LOCKED : state === "broken" ? BROKEN : this.base;
  }

  private find(bodies: Float32Array, joint: number, onChild: boolean): void {
    const { parent, child } = this.joints[joint];
    const body = onChild ? child : parent;
    const local = this.frames[joint][onChild ? 1 : 0];
    if (body === null) multiply(IDENTITY, 0, local, this.work, 0);
    else multiply(bodies, 16 * body, local, this.work, 0);
  }

  /** Limits of a turn as a sector, of a slide as a bar with ends; on the parent. */
  private addLimits(joint: Joint, index: number, radius: number): void {
    const points: number[] = [];
    const turns = ["revolute", "screw", "cylindrical"].includes(joint.kind);
    const slide = joint.kind === "prismatic" ? 0 : joint.kind === "cylindrical" ? 1 : -1;
    const [low, high] = [joint.lower[0] ?? null, joint.upper[0] ?? null];
    if (turns && (low !== null || high !== null)) {
      const from = low ?? (high as number) - Math.PI;
      const to = Math.min(high ?? from + Math.PI, from + 2 * Math.PI);
      const steps = 32;
      const at = (angle: number) => [radius * Math.cos(angle), radius * Math.sin(angle), 0];
      for (let i = 0; i < steps; i++) {
        points.push(...at(from + ((to - from) * i) / steps), ...at(from + ((to - from) * (i + 1)) / steps));
      }
      if (low !== null) points.push(0, 0, 0, ...at(from));
      if (high !== null) points.push(0, 0, 0, ...at(to));
    }
    if (slide >= 0) {
      const ends = [joint.lower[slide], joint.upper[slide]].filter((x): x is number => x !== null && x !== undefined);
      const tick = 0.35 * radius;
      for (const z of ends) points.push(-tick, 0, z, tick, 0, z, 0, -tick, z, 0, tick, z);
      if (ends.length === 2) points.push(0, 0, ends[0], 0, 0, ends[1]);
    }
    if (points.length === 0) return;
    const lines = new three.BufferGeometry();
    lines.setAttribute("position", new three.Float32BufferAttribute(points, 3));
    const line = new three.LineSegments(lines, new three.LineBasicMaterial({ color: 0xe69f00 }));
    line.matrixAutoUpdate = false;
    line.frustumCulled = false;
    this.limits.push({ joint: index, line });
    this.group.add(line);
  }
}
