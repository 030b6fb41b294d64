/** Names beside bodies and joints. */

import * as three from "three";
import type { Header, Vec3 } from "../pack/header.ts";
import { make } from "../ui/dom.ts";
import type { Picked } from "./stage.ts";

/** More names than this cannot be read. */
const MOST = 120;

export class Labels {
  visible = false;
  private readonly host: HTMLElement;
  private readonly bodies: HTMLElement[];
  private readonly joints: HTMLElement[];
  private readonly work = new three.Vector3();

  constructor(header: Header, host: HTMLElement) {
    const { bodies, joints } = header.cast;
    this.host = make("div", { class: "labels", "aria-hidden": "true" });
    this.bodies = bodies.map((body) => make("span", { class: "label" }, body.name));
    this.joints = joints.map((joint) => make("span", { class: "label joint" }, joint.name));
    if (bodies.length <= MOST) this.host.append(...this.bodies);
    if (joints.length <= MOST) this.host.append(...this.joints);
    host.append(this.host);
  }

  place(camera: three.PerspectiveCamera, bodies: Float32Array, ofJoint: (joint: number) => Vec3, selected: Picked): void {
    const [width, height] = [this.host.clientWidth, this.host.clientHeight];
    const put = (label: HTMLElement, at: Vec3, isThere: boolean) => {
      const p = this.work.set(...at).project(camera);
      const isShown = isThere && Math.abs(p.z) < 1;
      label.style.display = isShown ? "" : "none";
      if (isShown) label.style.transform = `translate(${((p.x + 1) / 2) * width + 6}px, ${((1 - p.y) / 2) * height - 8}px)`;
    };
    const isAsked = (kind: "body" | "joint", index: number) => selected?.kind === kind && selected.index === index;
    const each = (list: HTMLElement[], kind: "body" | "joint", at: (i: number) => Vec3, isThere: (i: number) => boolean) => {
      list.forEach((label, i) => {
        const isWanted = isAsked(kind, i) || (this.visible && list.length <= MOST);
        if (isWanted && !label.isConnected) this.host.append(label);
        if (label.isConnected) put(label, isWanted ? at(i) : [0, 0, 0], isWanted && isThere(i));
      });
    };
    each(this.bodies, "body", (i) => [bodies[16 * i + 12], bodies[16 * i + 13], bodies[16 * i + 14]], (i) => bodies[16 * i + 15] !== 0);
    each(this.joints, "joint", ofJoint, () => true);
  }

  dispose(): void {
    this.host.remove();
  }
}
