/** Contact points and their forces: blue where they stick, orange where they slip, grey where nothing pushes. */

import * as three from "three";
import { Pack, PackError } from "../pack/read.ts";
import type { Vec3 } from "../pack/header.ts";
import * as geometry from "./geometry.ts";
import { alongZ, compose } from "./matrix.ts";
import { MODES } from "./palette.ts";

const TOP = 32767;
const colour = new three.Color();

export class Contacts {
  readonly group = new three.Group();
  private readonly starts: Uint32Array;
  private readonly points: Int16Array;
  private readonly directions: Int8Array;
  private readonly sizes: Float32Array;
  private readonly modes: Uint8Array;
  private readonly bodies: Uint16Array;
  private readonly bounds: [number, number][];
  private readonly usual: number;
  private readonly arrows: three.InstancedMesh;
  private readonly dots: three.InstancedMesh;
  private readonly length: number;
  private readonly dot: number;
  private shown = -1;

  static async read(pack: Pack, length: number, dot: number): Promise<Contacts | null> {
    if (!pack.header.contacts) return null;
    const counts = await pack.counts("contact.counts");
    const points = new Int16Array((await pack.shorts("contact.points")).buffer);
    const directions = new Int8Array((await pack.bytes("contact.directions")).slice().buffer);
    const sizes = await pack.singles("contact.sizes");
    const modes = await pack.bytes("contact.modes");
    const bodies = await pack.shorts("contact.bodies");
    const all = counts.reduce((sum, n) => sum + n, 0);
    if (points.length !== 3 * all || directions.length !== 3 * all || sizes.length !== all || modes.length !== all || bodies.length !== 2 * all) {
      throw new PackError("The page is damaged: its contacts do not fit each other.");
    }
    return new Contacts(pack, [counts, points, directions, sizes, modes, bodies], length, dot);
  }

  private constructor(
    pack: Pack,
    data: [Uint32Array, Int16Array, Int8Array, Float32Array, Uint8Array, Uint16Array],
    length: number,
    dot: number,
  ) {
    const counts = data[0];
    [, this.points, this.directions, this.sizes, this.modes, this.bodies] = data;
    this.starts = new Uint32Array(counts.length + 1);
    counts.forEach((n, i) => (this.starts[i + 1] = this.starts[i] + n));
    this.bounds = pack.header.contacts?.bounds ?? [];
    this.usual = pack.header.contacts?.usual || 1;
    [this.length, this.dot] = [length, dot];
    const most = counts.reduce((a, b) => Math.max(a, b), 1);
    const fine = most > 500 ? 5 : 10;
    const material = new three.MeshLambertMaterial({ vertexColors: true });
    this.arrows = new three.InstancedMesh(geometry.arrow(fine), material, most);
    this.dots = new three.InstancedMesh(geometry.sphere(Math.max(8, fine)), material, most);
    for (const mesh of [this.arrows, this.dots]) {
      mesh.frustumCulled = false;
      mesh.count = 0;
      this.group.add(mesh);
    }
  }

  /** How many there are at a frame. */
  count(frame: number): number {
    return frame + 1 < this.starts.length ? this.starts[frame + 1] - this.starts[frame] : 0;
  }

  /** Those of a body at a frame: how many, and the sum of their forces. */
  of(body: number, frame: number): { count: number; force: number; slipping: number } {
    const sum = { count: 0, force: 0, slipping: 0 };
    for (let i = this.starts[frame]; i < this.starts[frame] + this.count(frame); i++) {
      if (this.bodies[2 * i] !== body && this.bodies[2 * i + 1] !== body) continue;
      sum.count++;
      sum.force += this.sizes[i];
      if (this.modes[i] === 2) sum.slipping++;
    }
    return sum;
  }

  place(frame: number): void {
    if (frame === this.shown) return;
    this.shown = frame;
    const [start, count] = [this.starts[frame] ?? 0, this.count(frame)];
    const all = this.modes.length;
    for (let k = 0; k < count; k++) {
      const i = start + k;
      const p = [0, 1, 2].map((axis) => {
        const [low, high] = this.bounds[axis];
        return 0.5 * (low + high) + (0.5 * (high - low) * this.points[axis * all + i]) / TOP;
      }) as Vec3;
      const d = [0, 1, 2].map((axis) => this.directions[axis * all + i]) as Vec3;
      // Strikes are far above what is usual: their arrows would leave the picture.
      const share = Math.min(2.5, this.sizes[i] / this.usual);
      const long = this.sizes[i] > 0 ? this.length * Math.max(0.08, share) : 0;
      const thick = Math.min(long, 0.8 * this.length);
      const shade = colour.setHex(MODES[this.modes[i]] ?? MODES[0]);
      this.arrows.setMatrixAt(k, matrix.fromArray(compose(p, alongZ(d), [thick, thick, long])));
      this.arrows.setColorAt(k, shade);
      this.dots.setMatrixAt(k, matrix.fromArray(compose(p, [1, 0, 0, 0], [this.dot, this.dot, this.dot])));
      this.dots.setColorAt(k, shade);
    }
    for (const mesh of [this.arrows, this.dots]) {
      mesh.count = count;
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }
}

const matrix = new three.Matrix4();
