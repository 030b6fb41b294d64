/** Springs, paths of points, frames of bodies, the ground, and what does not fit at the start of a scene. */

import * as three from "three";
import type { Frames } from "../pack/frames.ts";
import type { Cast, Misfit, Spot, Vec3 } from "../pack/header.ts";
import * as geometry from "./geometry.ts";
import { alongZ, between, compose, IDENTITY, transform } from "./matrix.ts";
import { MISFIT, SPRING, type Theme, TRAIL } from "./palette.ts";
import { Pieces } from "./pieces.ts";

const matrix = new three.Matrix4();

export const worldPoint = (bodies: Float32Array, spot: Spot): Vec3 =>
  spot.body === null ? spot.p : transform(bodies, 16 * spot.body, spot.p);

export class Springs {
  readonly mesh: three.InstancedMesh;
  private readonly cast: Cast;
  private readonly thickness: number;

  constructor(cast: Cast, thickness: number) {
    [this.cast, this.thickness] = [cast, thickness];
    const material = new three.MeshLambertMaterial({ color: SPRING, vertexColors: true });
    this.mesh = new three.InstancedMesh(geometry.coil(), material, Math.max(1, cast.springs.length));
    this.mesh.count = cast.springs.length;
    this.mesh.frustumCulled = false;
  }

  place(bodies: Float32Array): void {
    this.cast.springs.forEach((spring, i) => {
      const [a, b] = [worldPoint(bodies, spring.a), worldPoint(bodies, spring.b)];
      this.mesh.setMatrixAt(i, matrix.fromArray(between(a, b, this.thickness)));
    });
    this.mesh.instanceMatrix.needsUpdate = true;
  }
}

/** The path of a point of a body over the whole run; what has been is stronger. */
export class Trail {
  readonly group = new three.Group();
  private readonly past: three.Line;

  constructor(frames: Frames, spot: Spot) {
    const bodies = new Float32Array(16 * frames.bodies);
    const points: number[] = [];
    // Enough to be smooth on a screen.
    const stride = Math.max(1, Math.floor(frames.count / 3000));
    this.times = [];
    for (let frame = 0; frame < frames.count; frame += stride) {
      frames.place(frames.times[frame], bodies);
      if (spot.body !== null && bodies[16 * spot.body + 15] === 0) continue;
      points.push(...worldPoint(bodies, spot));
      this.times.push(frames.times[frame]);
    }
    const line = new three.BufferGeometry();
    line.setAttribute("position", new three.Float32BufferAttribute(points, 3));
    const whole = new three.Line(line, new three.LineBasicMaterial({ color: TRAIL, transparent: true, opacity: 0.3 }));
    this.past = new three.Line(line.clone(), new three.LineBasicMaterial({ color: TRAIL }));
    whole.frustumCulled = this.past.frustumCulled = false;
    this.group.add(whole, this.past);
  }

  private readonly times: number[];

  place(time: number): void {
    let n = 0;
    while (n < this.times.length && this.times[n] <= time) n++;
    this.past.geometry.setDrawRange(0, n);
  }
}

/** Axes of the frames of all bodies. */
export function bodyFrames(cast: Cast, size: number): Pieces {
  const material = new three.MeshBasicMaterial({ vertexColors: true });
  const list = cast.bodies.map((body, i) => ({ body: i, local: compose(body.origin, [1, 0, 0, 0], [size, size, size]), colour: 0xffffff }));
  return new Pieces(geometry.axes(), material, list);
}

/** The ground: half-spaces as planes, and a grid that says where below is. */
export class Ground {
  readonly group = new three.Group();
  private readonly planes: three.Mesh[] = [];
  private grids: three.GridHelper[] = [];
  private readonly size: number;
  private readonly at: { p: Vec3; up: Vec3; isPlane: boolean }[] = [];

  constructor(cast: Cast, up: Vec3, low: Vec3, size: number) {
    this.size = size;
    for (const shape of cast.shapes) {
      if (shape.kind !== "half-space") continue;
      const m = compose(shape.frame.p, shape.frame.q);
      const normal: Vec3 = [m[8], m[9], m[10]];
      // The foot of the middle of the scene, so that a plane that begins far away still lies below.
      const off = [0, 1, 2].reduce((sum, k) => sum + (low[k] - shape.frame.p[k]) * normal[k], 0);
      this.at.push({ p: [0, 1, 2].map((k) => low[k] - off * normal[k]) as Vec3, up: normal, isPlane: true });
    }
    if (this.at.length === 0) this.at.push({ p: low, up, isPlane: false });
    for (const { p, up, isPlane } of this.at) {
      if (!isPlane) continue;
      const material = new three.MeshLambertMaterial({ color: 0xffffff, transparent: true, opacity: 0.75, depthWrite: false, side: three.DoubleSide });
      const plane = new three.Mesh(new three.PlaneGeometry(size, size), material);
      plane.applyMatrix4(matrix.fromArray(compose(p, alongZ(up))));
      plane.receiveShadow = true;
      plane.renderOrder = -1;
      this.planes.push(plane);
      this.group.add(plane);
    }
  }

  set theme(theme: Theme) {
    for (const plane of this.planes) (plane.material as three.MeshLambertMaterial).color.setHex(theme.gridMain);
    this.grids.forEach((grid) => {
      this.group.remove(grid);
      grid.dispose();
    });
    this.grids = this.at.map(({ p, up }) => {
      const grid = new three.GridHelper(this.size, 40, theme.gridMain, theme.grid);
      grid.rotateX(Math.PI / 2);
      grid.updateMatrix();
      grid.applyMatrix4(matrix.fromArray(compose(p, alongZ(up))));
      this.group.add(grid);
      return grid;
    });
  }
}

/** What does not fit: a red dot, and an arrow from the one side to the other. */
export function drawMisfits(misfits: Misfit[], dot: number, length: number): three.Group {
  const group = new three.Group();
  const material = new three.MeshBasicMaterial({ color: MISFIT, depthTest: false, transparent: true });
  for (const { at, by, size } of misfits) {
    const mark = new three.Mesh(geometry.sphere(12), material);
    mark.applyMatrix4(matrix.fromArray(compose(at, [1, 0, 0, 0], [dot, dot, dot])));
    const arrow = new three.Mesh(geometry.arrow(8), material);
    // A gap too small to be seen is still to be found.
    const long = Math.max(size, 0.5 * length);
    arrow.applyMatrix4(matrix.fromArray(compose(at, alongZ(by), [0.6 * length, 0.6 * length, long])));
    mark.renderOrder = arrow.renderOrder = 5;
    group.add(mark, arrow);
  }
  return group;
}

export { IDENTITY };
