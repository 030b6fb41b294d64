/** From where a scene is looked at: how large it is, where up is, which side is its front. */

import type { Frames } from "../pack/frames.ts";
import type { Header, Shape, Vec3 } from "../pack/header.ts";

export interface Box {
  centre: Vec3;
  radius: number;
  corners: Vec3[];
  /** The middle of its lower side. */
  low: Vec3;
  up: Vec3;
  /** From where it is looked at. */
  side: Vec3;
}

/** Up is against gravity, z where there is none. */
export function upOf(header: Header): Vec3 {
  const g = header.cast.gravity;
  const n = Math.hypot(...g);
  return n > 0 ? [-g[0] / n, -g[1] / n, -g[2] / n] : [0, 0, 1];
}

function reach(shape: Shape): number {
  const [a, b, c] = shape.size;
  const own = { sphere: a, box: Math.hypot(a, b, c) / 2, capsule: a + b / 2, cylinder: Math.hypot(a, b / 2), cone: Math.hypot(a, b / 2) };
  return Math.hypot(...shape.frame.p) + (own[shape.kind as keyof typeof own] ?? 0);
}

/** Farther than this many sizes of the start a run is not fitted into the picture as a whole. */
const MOST = 8;

/** A box around all bodies: over the whole run, or at its start where they leave for far away. */
export function sceneBox(header: Header, frames: Frames): Box {
  const { cast } = header;
  const reaches = cast.bodies.map(() => 0);
  for (const shape of cast.shapes) if (shape.body !== null) reaches[shape.body] = Math.max(reaches[shape.body], reach(shape));
  cast.bodies.forEach(({ inertia }, body) => {
    // Without shapes the box of its inertia is drawn.
    if (reaches[body] === 0 && inertia) reaches[body] = Math.hypot(...inertia[0]) / 2;
  });
  for (const joint of cast.joints) {
    if (joint.parent !== null) reaches[joint.parent] = Math.max(reaches[joint.parent], Math.hypot(...joint.on_parent.p));
    if (joint.child !== null) reaches[joint.child] = Math.max(reaches[joint.child], Math.hypot(...joint.on_child.p));
  }
  const whole = new Extent();
  const start = new Extent();
  cast.bodies.forEach((_, body) => {
    for (let axis = 0; axis < 3; axis++) {
      const [low, high] = [frames.bounds[6 * body + 2 * axis], frames.bounds[6 * body + 2 * axis + 1]];
      const first = frames.count > 0 ? frames.coordinate(body, axis, 0) : Number.NaN;
      whole.add(axis, low, reaches[body]);
      whole.add(axis, high, reaches[body]);
      start.add(axis, Number.isNaN(first) ? low : first, reaches[body]);
    }
  });
  for (const joint of cast.joints) {
    if (joint.parent === null && !joint.is_absent) [whole, start].forEach((e) => joint.on_parent.p.forEach((x, axis) => e.add(axis, x, 0)));
  }
  const extent = whole.radius > MOST * start.radius && start.radius > 0 ? start : whole;
  const up = upOf(header);
  const radius = extent.radius || cast.length || 1;
  const vertical = [0, 1, 2].reduce((best, k) => (Math.abs(up[k]) > Math.abs(up[best]) ? k : best), 0);
  const low = [...extent.centre] as Vec3;
  low[vertical] = up[vertical] > 0 ? extent.low[vertical] : extent.high[vertical];
  return { centre: extent.centre, radius, corners: extent.corners(0.02 * radius), low, up, side: sideOf(extent, vertical, up) };
}

class Extent {
  readonly low: Vec3 = [Infinity, Infinity, Infinity];
  readonly high: Vec3 = [-Infinity, -Infinity, -Infinity];

  add(axis: number, x: number, around: number): void {
    if (!Number.isFinite(x)) return;
    this.low[axis] = Math.min(this.low[axis], x - around);
    this.high[axis] = Math.max(this.high[axis], x + around);
  }

  get centre(): Vec3 {
    return this.low.map((low, k) => (low <= this.high[k] ? (low + this.high[k]) / 2 : 0)) as Vec3;
  }

  /** The corners of the box, with air around it. */
  corners(air: number): Vec3[] {
    const pick = (k: number, side: number) => (this.low[k] <= this.high[k] ? (side ? this.high[k] + air : this.low[k] - air) : 0);
    return [0, 1, 2, 3, 4, 5, 6, 7].map((i) => [pick(0, i & 1), pick(1, i & 2), pick(2, i & 4)] as Vec3);
  }

  width(axis: number): number {
    return Math.max(0, this.high[axis] - this.low[axis]);
  }

  get radius(): number {
    const r = Math.hypot(this.width(0), this.width(1), this.width(2)) / 2;
    return Number.isFinite(r) ? r : 0;
  }
}

/** Across the narrowest horizontal direction, a little from above and from the side. */
function sideOf(extent: Extent, vertical: number, up: Vec3): Vec3 {
  const horizontal = [0, 1, 2].filter((k) => k !== vertical);
  const [a, b] = horizontal;
  const narrow = extent.width(a) < extent.width(b) ? a : b;
  const wide = narrow === a ? b : a;
  const isFlat = extent.width(narrow) < 0.5 * extent.width(wide);
  const side: Vec3 = [0, 0, 0];
  side[narrow] = narrow === 0 ? 1 : -1;
  side[wide] += isFlat ? 0.35 : 0.6;
  for (let k = 0; k < 3; k++) side[k] += (isFlat ? 0.28 : 0.45) * up[k];
  return side;
}
