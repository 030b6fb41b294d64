/** Which body or joint is at a point of the picture. */

import * as three from "three";
import type { Pieces } from "./pieces.ts";
import type { Picked } from "./stage.ts";

const caster = new three.Raycaster();

export function pick(
  at: three.Vector2,
  camera: three.Camera,
  pieces: Pieces[],
  joints: { mesh: three.InstancedMesh; parts: { joint: number }[] }[],
): Picked {
  caster.setFromCamera(at, camera);
  let [nearest, found]: [number, Picked] = [Number.POSITIVE_INFINITY, null];
  const look = (mesh: three.InstancedMesh, whose: (instance: number) => Picked) => {
    for (const hit of caster.intersectObject(mesh, false)) {
      const owner = hit.instanceId === undefined ? null : whose(hit.instanceId);
      if (owner && hit.distance < nearest) [nearest, found] = [hit.distance, owner];
    }
  };
  for (const { mesh, list } of pieces) {
    look(mesh, (i) => (list[i].body >= 0 ? { kind: "body", index: list[i].body } : null));
  }
  for (const { mesh, parts } of joints) look(mesh, (i) => ({ kind: "joint", index: parts[i].joint }));
  return found;
}
