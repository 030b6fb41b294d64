/** Matrices of four by four, column by column, in flat arrays. */

import type { Frame, Quat, Vec3 } from "../pack/header.ts";

export type Matrix = Float32Array;

export const IDENTITY: Matrix = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);

/** A frame with sizes along its axes. */
export function compose(p: Vec3, q: Quat, size: Vec3 = [1, 1, 1]): Matrix {
  const [w, x, y, z] = q;
  const s = 2 / (w * w + x * x + y * y + z * z || 1);
  const [a, b, c] = size;
  // prettier-ignore
  return new Float32Array([
    a * (1 - s * (y * y + z * z)), a * s * (x * y + w * z), a * s * (x * z - w * y), 0,
    b * s * (x * y - w * z), b * (1 - s * (x * x + z * z)), b * s * (y * z + w * x), 0,
    c * s * (x * z + w * y), c * s * (y * z - w * x), c * (1 - s * (x * x + y * y)), 0,
    p[0], p[1], p[2], 1,
  ]);
}

export const ofFrame = (frame: Frame, size: Vec3 = [1, 1, 1]): Matrix => compose(frame.p, frame.q, size);

/** Product of a (at an offset) and b, written to out at an offset. All are affine. */
export function multiply(a: ArrayLike<number>, i: number, b: ArrayLike<number>, out: Float32Array, k: number): void {
  for (let column = 0; column < 4; column++) {
    const c = 4 * column;
    const x = b[c];
    const y = b[c + 1];
    const z = b[c + 2];
    const w = b[c + 3];
    out[k + c] = a[i] * x + a[i + 4] * y + a[i + 8] * z + a[i + 12] * w;
    out[k + c + 1] = a[i + 1] * x + a[i + 5] * y + a[i + 9] * z + a[i + 13] * w;
    out[k + c + 2] = a[i + 2] * x + a[i + 6] * y + a[i + 10] * z + a[i + 14] * w;
    out[k + c + 3] = a[i + 15] * w;
  }
}

/** A point of a body in the world. */
export function transform(m: ArrayLike<number>, i: number, p: Vec3): Vec3 {
  return [0, 1, 2].map((k) => m[i + k] * p[0] + m[i + 4 + k] * p[1] + m[i + 8 + k] * p[2] + m[i + 12 + k]) as Vec3;
}

/** The quaternion that turns z to a direction. */
export function alongZ(d: Vec3): Quat {
  const n = Math.hypot(...d);
  if (!(n > 0)) return [1, 0, 0, 0];
  const [x, y, z] = [d[0] / n, d[1] / n, d[2] / n];
  if (z < -0.999999) return [0, 1, 0, 0];
  const s = Math.sqrt(2 * (1 + z));
  return [s / 2, -y / s, x / s, 0];
}

/** A piece from one point to another, with a thickness. */
export function between(a: Vec3, b: Vec3, thickness: number): Matrix {
  const d: Vec3 = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
  const middle: Vec3 = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2];
  return compose(middle, alongZ(d), [thickness, thickness, Math.hypot(...d)]);
}
