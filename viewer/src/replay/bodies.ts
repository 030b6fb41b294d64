/** Bodies: their shapes, and where there are none, the box of their inertia and rods between their joints. */

import * as three from "three";
import type { Cast, Shape, Vec3 } from "../pack/header.ts";
import type { Pack } from "../pack/read.ts";
import * as geometry from "./geometry.ts";
import { between, compose, multiply, ofFrame, transform } from "./matrix.ts";
import { BODIES, GROUND } from "./palette.ts";
import { type Piece, Pieces } from "./pieces.ts";

type Solid = "sphere" | "box" | "cylinder" | "cone" | `mesh.${number}`;
/** Solids of the ground are glass: what is behind them is what one wants to see. */
type Form = Solid | "inertia" | `ground ${Solid}`;

export interface Drawn {
  group: three.Group;
  pieces: Pieces[];
  materials: three.Material[];
  wires?: Wires;
  /** How many solids there are. */
  count: number;
}

export const colourOf = (body: number | null): number => (body === null ? GROUND : BODIES[body % BODIES.length]);

/** Solids of a shape, by the unit solids that they are made of. */
function solids(shape: Shape, dot: number): [Solid, Piece["local"]][] {
  const [a, b, c] = shape.size;
  switch (shape.kind) {
    case "point":
      return [["sphere", ofFrame(shape.frame, [dot, dot, dot])]];
    case "sphere":
      return [["sphere", ofFrame(shape.frame, [a, a, a])]];
    case "box":
      return [["box", ofFrame(shape.frame, [a, b, c])]];
    case "cylinder":
      return [["cylinder", ofFrame(shape.frame, [a, a, b])]];
    case "cone":
      return [["cone", ofFrame(shape.frame, [a, a, b])]];
    case "capsule": {
      const end = (z: number) => {
        const out = new Float32Array(16);
        multiply(ofFrame(shape.frame), 0, compose([0, 0, z], [1, 0, 0, 0], [a, a, a]), out, 0);
        return out;
      };
      return [
        ["cylinder", ofFrame(shape.frame, [a, a, b])],
        ["sphere", end(b / 2)],
        ["sphere", end(-b / 2)],
      ];
    }
    case "mesh":
      return [[`mesh.${shape.mesh ?? 0}`, ofFrame(shape.frame)]];
    case "half-space":
      return [];
  }
}

/** Points of each body at which joints sit. */
function anchors(cast: Cast): Vec3[][] {
  const found: Vec3[][] = cast.bodies.map(() => []);
  for (const joint of cast.joints) {
    if (joint.parent !== null) found[joint.parent].push(joint.on_parent.p);
    if (joint.child !== null) found[joint.child].push(joint.on_child.p);
  }
  return found;
}

/** What stands for a body without shapes. */
function standIn(cast: Cast, body: number, points: Vec3[], dot: number, add: (form: Form, piece: Piece) => void): void {
  const { inertia, mass } = cast.bodies[body];
  const colour = colourOf(body);
  const far = points.filter((p) => Math.hypot(...p) > 1e-9 * cast.length);
  const reach = far.reduce((most, p) => Math.max(most, Math.hypot(...p)), 0) || cast.length;
  const rod = Math.min(0.035 * reach, 2 * dot);
  for (const p of far) add("cylinder", { body, local: between([0, 0, 0], p, rod), colour });
  const edges = inertia?.[0];
  if (edges && Math.max(...edges) > 1e-6 * cast.length) {
    const least = 0.3 * rod;
    const size = edges.map((x) => Math.max(x, least)) as Vec3;
    add("inertia", { body, local: compose([0, 0, 0], inertia[1], size), colour });
  } else if (mass > 0 || far.length === 0) {
    const r = 1.6 * rod || dot;
    add("sphere", { body, local: compose([0, 0, 0], [1, 0, 0, 0], [r, r, r]), colour });
  }
}

/** Makes all bodies. `dot` is the radius of a point. */
export async function drawBodies(pack: Pack, dot: number): Promise<Drawn> {
  const cast = pack.header.cast;
  const forms = new Map<Form, Piece[]>();
  const add = (form: Form, piece: Piece) => {
    const list = forms.get(form);
    if (list) list.push(piece);
    else forms.set(form, [piece]);
  };
  const hasShape = cast.bodies.map(() => false);
  for (const shape of cast.shapes) {
    if (shape.body !== null && shape.kind !== "point") hasShape[shape.body] = true;
    const [body, colour] = [shape.body ?? -1, colourOf(shape.body)];
    for (const [form, local] of solids(shape, dot)) add(shape.body === null ? `ground ${form}` : form, { body, local, colour });
  }
  const points = anchors(cast);
  cast.bodies.forEach((_, body) => {
    if (!hasShape[body]) standIn(cast, body, points[body], dot, add);
  });

  const count = [...forms.values()].reduce((sum, list) => sum + list.length, 0);
  const fine = geometry.fineness(count);
  const solid = new three.MeshLambertMaterial({ vertexColors: true, side: three.DoubleSide });
  const glass = new three.MeshLambertMaterial({ vertexColors: true, transparent: true, opacity: 0.3, depthWrite: false });
  const stone = new three.MeshLambertMaterial({ vertexColors: true, transparent: true, opacity: 0.38, depthWrite: false, side: three.DoubleSide });
  const drawn: Drawn = { group: new three.Group(), pieces: [], materials: [solid, glass, stone], count };
  for (const [form, list] of forms) {
    const material = form === "inertia" ? glass : form.startsWith("ground") ? stone : solid;
    const pieces = new Pieces(await unit(form, pack, fine), material, list);
    pieces.mesh.castShadow = material === solid && count <= 400;
    pieces.mesh.receiveShadow = material !== glass && count <= 400;
    drawn.pieces.push(pieces);
    drawn.group.add(pieces.mesh);
  }
  const thin = wires(cast, hasShape, points);
  if (thin) {
    drawn.wires = thin;
    drawn.group.add(thin.lines);
  }
  return drawn;
}

/** Lines from joint to joint through bodies without shapes: rods may be thinner than a dot, lines never are. */
function wires(cast: Cast, hasShape: boolean[], points: Vec3[][]): Wires | null {
  const list: { body: number; p: Vec3 }[] = [];
  points.forEach((own, body) => {
    if (hasShape[body]) return;
    for (const p of own) list.push({ body, p: [0, 0, 0] }, { body, p });
  });
  return list.length > 0 ? new Wires(list, cast) : null;
}

export class Wires {
  readonly lines: three.LineSegments;
  private readonly list: { body: number; p: Vec3 }[];

  constructor(list: { body: number; p: Vec3 }[], cast: Cast) {
    this.list = list;
    const geometry = new three.BufferGeometry();
    geometry.setAttribute("position", new three.BufferAttribute(new Float32Array(3 * list.length), 3));
    this.lines = new three.LineSegments(geometry, new three.LineBasicMaterial({ color: cast.bodies.length > 1 ? 0x6b7680 : colourOf(0) }));
    this.lines.frustumCulled = false;
  }

  place(bodies: Float32Array): void {
    const place = this.lines.geometry.getAttribute("position") as three.BufferAttribute;
    this.list.forEach(({ body, p }, i) => place.setXYZ(i, ...transform(bodies, 16 * body, p)));
    place.needsUpdate = true;
  }
}

async function unit(form: Form, pack: Pack, fine: number): Promise<three.BufferGeometry> {
  const plain = form.replace("ground ", "") as Solid | "inertia";
  switch (plain) {
    case "sphere":
      return geometry.sphere(fine);
    case "cylinder":
      return geometry.cylinder(fine);
    case "cone":
      return geometry.cone(fine);
    case "box":
    case "inertia":
      return geometry.box();
    default:
      return geometry.ofMesh(pack, Number(plain.slice(5)));
  }
}
