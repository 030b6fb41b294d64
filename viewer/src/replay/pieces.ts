/** Many solids of one form, each fixed in a body: drawn in one go, whatever their number. */

import * as three from "three";
import { IDENTITY, type Matrix, multiply } from "./matrix.ts";

/** One solid: whose it is, where on it, and how it looks. */
export interface Piece {
  /** −1: the ground. */
  body: number;
  local: Matrix;
  colour: number;
}

const colour = new three.Color();

export class Pieces {
  readonly mesh: three.InstancedMesh;
  readonly list: Piece[];

  constructor(geometry: three.BufferGeometry, material: three.Material, list: Piece[]) {
    this.list = list;
    this.mesh = new three.InstancedMesh(geometry, material, Math.max(1, list.length));
    this.mesh.count = list.length;
    this.mesh.instanceMatrix.setUsage(three.DynamicDrawUsage);
    // Bodies move out of any sphere that is computed once.
    this.mesh.frustumCulled = false;
    list.forEach((piece, i) => this.mesh.setColorAt(i, colour.setHex(piece.colour)));
  }

  /** Puts every solid where its body is. */
  place(bodies: Float32Array): void {
    const out = this.mesh.instanceMatrix.array as Float32Array;
    for (let i = 0; i < this.list.length; i++) {
      const { body, local } = this.list[i];
      if (body < 0) multiply(IDENTITY, 0, local, out, 16 * i);
      else multiply(bodies, 16 * body, local, out, 16 * i);
    }
    this.mesh.instanceMatrix.needsUpdate = true;
    // Picking looks at the sphere around all of them; it is found again when it is asked for.
    this.mesh.boundingSphere = null;
  }

  /** Colours the solids of a body, or gives them their own colours back. */
  highlight(body: number, mark: number | null): void {
    this.list.forEach((piece, i) => {
      if (piece.body === body) this.mesh.setColorAt(i, colour.setHex(mark ?? piece.colour));
    });
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
  }
}
