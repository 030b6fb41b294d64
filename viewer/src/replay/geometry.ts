/** Unit solids, from which everything is scaled. Their axes are z, as in scenes. Every other eighth is darker, so that turning is seen. */

import * as three from "three";
import type { Pack } from "../pack/read.ts";

/** How fine round things are: by how many of them there are. */
export function fineness(count: number): number {
  return count <= 60 ? 32 : count <= 400 ? 20 : count <= 2000 ? 12 : 8;
}

const DARK = 0.8;

/** Gives each triangle a shade by where it lies. */
function shade(geometry: three.BufferGeometry, isDark: (x: number, y: number, z: number) => boolean): three.BufferGeometry {
  const loose = geometry.index ? geometry.toNonIndexed() : geometry;
  const place = loose.getAttribute("position");
  const colours = new Float32Array(3 * place.count);
  for (let i = 0; i < place.count; i += 3) {
    const mean = (axis: 0 | 1 | 2) => (place.getComponent(i, axis) + place.getComponent(i + 1, axis) + place.getComponent(i + 2, axis)) / 3;
    colours.fill(isDark(mean(0), mean(1), mean(2)) ? DARK : 1, 3 * i, 3 * i + 9);
  }
  loose.setAttribute("color", new three.BufferAttribute(colours, 3));
  return loose;
}

const quarters = (x: number, y: number): boolean => x * y > 0;

export function sphere(fine: number): three.BufferGeometry {
  return shade(new three.SphereGeometry(1, fine, Math.max(6, fine / 2)).rotateX(Math.PI / 2), (x, y, z) => x * y * z > 0);
}

export function box(): three.BufferGeometry {
  return shade(new three.BoxGeometry(1, 1, 1), () => false);
}

export function cylinder(fine: number): three.BufferGeometry {
  return shade(new three.CylinderGeometry(1, 1, 1, fine).rotateX(Math.PI / 2), quarters);
}

export function cone(fine: number): three.BufferGeometry {
  return shade(new three.ConeGeometry(1, 1, fine).rotateX(Math.PI / 2), quarters);
}

export function octahedron(): three.BufferGeometry {
  return shade(new three.OctahedronGeometry(1), () => false);
}

/** From 0 to 1 along z: a shaft and a head. */
export function arrow(fine: number): three.BufferGeometry {
  const shaft = new three.CylinderGeometry(0.035, 0.035, 0.75, fine).rotateX(Math.PI / 2).translate(0, 0, 0.375);
  const head = new three.ConeGeometry(0.1, 0.25, fine).rotateX(Math.PI / 2).translate(0, 0, 0.875);
  return merge([shaft, head]);
}

/** Three thin rods along the axes, red green blue. */
export function axes(): three.BufferGeometry {
  const rod = () => new three.CylinderGeometry(0.03, 0.03, 1, 6);
  const rods = [rod().rotateZ(-Math.PI / 2).translate(0.5, 0, 0), rod().translate(0, 0.5, 0), rod().rotateX(Math.PI / 2).translate(0, 0, 0.5)];
  const colours = [
    [0.84, 0.37, 0],
    [0, 0.62, 0.45],
    [0, 0.45, 0.7],
  ];
  return merge(rods, colours);
}

/** A coil from −½ to ½ along z. */
export function coil(): three.BufferGeometry {
  class Helix extends three.Curve<three.Vector3> {
    constructor() {
      super();
    }
    override getPoint(t: number, target = new three.Vector3()): three.Vector3 {
      const turns = 9;
      const lead = 0.1;
      const inside = t > lead && t < 1 - lead;
      const angle = ((t - lead) / (1 - 2 * lead)) * turns * 2 * Math.PI;
      const fade = inside ? Math.min(1, 12 * (t - lead), 12 * (1 - lead - t)) : 0;
      return target.set(fade * Math.cos(angle), fade * Math.sin(angle), t - 0.5);
    }
  }
  return shade(new three.TubeGeometry(new Helix(), 180, 0.13, 5), () => false);
}

/** Several solids as one. */
function merge(parts: three.BufferGeometry[], colours?: number[][]): three.BufferGeometry {
  const loose = parts.map((part) => (part.index ? part.toNonIndexed() : part));
  const count = loose.reduce((sum, part) => sum + part.getAttribute("position").count, 0);
  const merged = new three.BufferGeometry();
  for (const name of ["position", "normal"]) {
    const values = new Float32Array(3 * count);
    let at = 0;
    for (const part of loose) {
      values.set(part.getAttribute(name).array as Float32Array, at);
      at += part.getAttribute(name).array.length;
    }
    merged.setAttribute(name, new three.BufferAttribute(values, 3));
  }
  const shades = new Float32Array(3 * count).fill(1);
  let at = 0;
  loose.forEach((part, k) => {
    const n = part.getAttribute("position").count;
    if (colours) for (let i = 0; i < n; i++) shades.set(colours[k], at + 3 * i);
    at += 3 * n;
  });
  merged.setAttribute("color", new three.BufferAttribute(shades, 3));
  return merged;
}

/** A mesh of the recording, flat. */
export async function ofMesh(pack: Pack, index: number): Promise<three.BufferGeometry> {
  const vertices = await pack.singles(`mesh.${index}.vertices`);
  const triangles = await pack.counts(`mesh.${index}.triangles`);
  const geometry = new three.BufferGeometry();
  geometry.setAttribute("position", new three.BufferAttribute(vertices, 3));
  const count = vertices.length / 3;
  geometry.setIndex(new three.BufferAttribute(triangles.filter((i) => i < count), 1));
  const loose = geometry.toNonIndexed();
  loose.computeVertexNormals();
  return shade(loose, () => false);
}
