/** Poses of bodies over time. See `crates/signorini/src/report/frames.rs` for how they are packed. */

import { Pack, PackError } from "./read.ts";

const TOP = 32767;
const MISSING = -32768;
/** Series of a body: x y z, quaternion w x y z. */
const SERIES = 7;

/** Sums differences up to the values that they came from, in place. */
export function undoDifferences(values: Int16Array, start: number, count: number, order: number): void {
  for (let pass = 0; pass < order; pass++) {
    // Stores of a typed array are modulo 2^16, as the differences are.
    for (let i = start + 1; i < start + count; i++) values[i] += values[i - 1];
  }
}

/** The last place whose value is at most `x`; 0 where there is none. */
export function findBefore(sorted: ArrayLike<number>, x: number): number {
  let [low, high] = [0, sorted.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (sorted[middle] <= x) low = middle;
    else high = middle - 1;
  }
  return low;
}

export class Frames {
  readonly times: Float64Array;
  readonly count: number;
  readonly bodies: number;
  readonly bounds: Float64Array;
  private readonly values: Int16Array;

  private constructor(times: Float64Array, bounds: Float64Array, values: Int16Array, bodies: number) {
    [this.times, this.bounds, this.values, this.bodies, this.count] = [times, bounds, values, bodies, times.length];
  }

  static async read(pack: Pack): Promise<Frames> {
    const bodies = pack.header.cast.bodies.length;
    const times = await pack.doubles("frames.times");
    const bounds = await pack.doubles("frames.bounds");
    const orders = await pack.bytes("frames.orders");
    const raw = await pack.shorts("frames.poses");
    const values = new Int16Array(raw.buffer);
    const series = SERIES * bodies;
    if (values.length !== series * times.length || orders.length !== series || bounds.length !== 6 * bodies) {
      throw new PackError("The page is damaged: its poses do not fit its bodies.");
    }
    for (let k = 0; k < series; k++) undoDifferences(values, k * times.length, times.length, orders[k]);
    return new Frames(times, bounds, values, bodies);
  }

  get start(): number {
    return this.count > 0 ? this.times[0] : 0;
  }

  get end(): number {
    return this.count > 0 ? this.times[this.count - 1] : 0;
  }

  /** A coordinate of a body's centre of mass at a frame; not a number where the body is not there. */
  coordinate(body: number, axis: number, frame: number): number {
    const rounded = this.values[(SERIES * body + axis) * this.count + frame];
    if (rounded === MISSING) return Number.NaN;
    const low = this.bounds[6 * body + 2 * axis];
    const high = this.bounds[6 * body + 2 * axis + 1];
    return 0.5 * (low + high) + (0.5 * (high - low) * rounded) / TOP;
  }

  /**
   * Matrices of all bodies at a time, column by column as WebGL has them, between frames on straight lines.
   * A body that is not there has a matrix of zeros.
   */
  place(time: number, out: Float32Array): void {
    if (this.count === 0) return;
    const frame = findBefore(this.times, time);
    const next = Math.min(frame + 1, this.count - 1);
    const gap = this.times[next] - this.times[frame];
    const share = gap > 0 ? Math.min(1, Math.max(0, (time - this.times[frame]) / gap)) : 0;
    const n = this.count;
    for (let body = 0; body < this.bodies; body++) {
      const first = SERIES * body * n;
      const a = first + frame;
      const at = 16 * body;
      if (this.values[a] === MISSING) {
        out.fill(0, at, at + 16);
        continue;
      }
      const b = first + (this.values[first + next] === MISSING ? frame : next);
      const mix = (k: number) => this.values[a + k * n] + share * (this.values[b + k * n] - this.values[a + k * n]);
      const w = mix(3);
      const x = mix(4);
      const y = mix(5);
      const z = mix(6);
      const s = 2 / (w * w + x * x + y * y + z * z);
      out[at] = 1 - s * (y * y + z * z);
      out[at + 1] = s * (x * y + w * z);
      out[at + 2] = s * (x * z - w * y);
      out[at + 3] = 0;
      out[at + 4] = s * (x * y - w * z);
      out[at + 5] = 1 - s * (x * x + z * z);
      out[at + 6] = s * (y * z + w * x);
      out[at + 7] = 0;
      out[at + 8] = s * (x * z + w * y);
      out[at + 9] = s * (y * z - w * x);
      out[at + 10] = 1 - s * (x * x + y * y);
      out[at + 11] = 0;
      for (let axis = 0; axis < 3; axis++) {
        const low = this.bounds[6 * body + 2 * axis];
        const high = this.bounds[6 * body + 2 * axis + 1];
        out[at + 12 + axis] = 0.5 * (low + high) + (0.5 * (high - low) * mix(axis)) / TOP;
      }
      out[at + 15] = 1;
    }
  }
}
