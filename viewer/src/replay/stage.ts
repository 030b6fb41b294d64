/** The picture: camera, light, and everything that is drawn at a time. */

import * as three from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { findBefore, Frames } from "../pack/frames.ts";
import type { Header, Vec3 } from "../pack/header.ts";
import type { Pack } from "../pack/read.ts";
import { type Drawn, drawBodies } from "./bodies.ts";
import { Contacts } from "./contacts.ts";
import { bodyFrames, drawMisfits, Ground, Springs, Trail } from "./extras.ts";
import { Joints } from "./joints.ts";
import { Labels } from "./labels.ts";
import { SELECTED, THEMES } from "./palette.ts";
import { pick } from "./picking.ts";
import type { Pieces } from "./pieces.ts";
import { type Box, sceneBox, upOf } from "./view.ts";

export type Layer = "joints" | "contacts" | "springs" | "trails" | "frames" | "labels" | "ground";
export type Picked = { kind: "body" | "joint"; index: number } | null;
/** A plane across an axis, at a share of the scene's width, that hides what lies beyond it. */
export interface Cut {
  axis: 0 | 1 | 2;
  share: number;
  flip: boolean;
}

export class Stage {
  readonly header: Header;
  readonly frames: Frames;
  readonly bodies: Float32Array;
  readonly canvas: HTMLCanvasElement;
  readonly camera: three.PerspectiveCamera;
  readonly controls: OrbitControls;
  readonly box: Box;
  /** Milliseconds of the last update and drawing, by the script's own clock. */
  cost = { update: 0, draw: 0 };
  private readonly renderer: three.WebGLRenderer;
  private readonly scene = new three.Scene();
  private readonly light = new three.DirectionalLight(0xffffff, 2.2);
  private readonly sky = new three.HemisphereLight(0xffffff, 0x777788, 1.6);
  private readonly drawn: Drawn;
  private readonly joints: Joints;
  private readonly contacts: Contacts | null;
  private readonly springs: Springs;
  private readonly ground: Ground;
  private readonly labels: Labels;
  private readonly axes: Pieces;
  private readonly trails = new Map<string, Trail>();
  private readonly trailGroup = new three.Group();
  private time = 0;
  private dirty = true;
  private selected: Picked = null;
  private followed = -1;
  private readonly onPick: ((picked: Picked) => void)[] = [];

  static async build(pack: Pack, host: HTMLElement): Promise<Stage> {
    const header = pack.header;
    const frames = await Frames.read(pack);
    const box = sceneBox(header, frames);
    const dot = 0.006 * box.radius;
    const drawn = await drawBodies(pack, Math.min(dot, 0.05 * header.cast.length || dot));
    const contacts = await Contacts.read(pack, 0.22 * box.radius, dot);
    return new Stage(header, frames, box, drawn, contacts, host);
  }

  private constructor(header: Header, frames: Frames, box: Box, drawn: Drawn, contacts: Contacts | null, host: HTMLElement) {
    [this.header, this.frames, this.box, this.drawn, this.contacts] = [header, frames, box, drawn, contacts];
    this.bodies = new Float32Array(16 * frames.bodies);
    this.renderer = new three.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(Math.min(2, globalThis.devicePixelRatio || 1));
    this.renderer.shadowMap.enabled = drawn.count <= 400;
    this.canvas = this.renderer.domElement;
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `3D replay of ${header.title}: ${header.cast.bodies.length} bodies. Keys: ? for help.`);
    host.append(this.canvas);

    const radius = box.radius;
    this.camera = new three.PerspectiveCamera(38, 1, radius / 500, radius * 200);
    this.camera.up.set(...upOf(header));
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.addEventListener("change", () => (this.dirty = true));
    const glyph = Math.min(0.011 * radius, 0.12 * header.cast.length || Number.POSITIVE_INFINITY);
    this.joints = new Joints(header, glyph);
    this.springs = new Springs(header.cast, 1.6 * glyph);
    this.axes = bodyFrames(header.cast, Math.min(0.12 * radius, 1.2 * header.cast.length || 0.12 * radius));
    this.ground = new Ground(header.cast, upOf(header), box.low, 8 * radius);
    this.labels = new Labels(header, host);
    const shown = [drawn.group, this.joints.group, this.springs.mesh, this.axes.mesh, this.ground.group, this.trailGroup];
    this.scene.add(...shown, this.light, this.light.target, this.sky);
    if (contacts) this.scene.add(contacts.group);
    if (header.misfits?.length) this.scene.add(drawMisfits(header.misfits, 2 * glyph, 0.15 * radius));
    this.setLight();
    for (const marker of header.cast.markers) this.addTrail(`marker ${marker.name}`, new Trail(frames, marker.at));
    this.show("frames", false);
    this.show("labels", false);
    this.look();
    this.watchSize(host);
    this.watchPointer();
    this.seek(frames.start);
  }

  /** Shows a time. */
  seek(time: number): void {
    const began = performance.now();
    this.time = time;
    this.frames.place(time, this.bodies);
    for (const pieces of this.drawn.pieces) pieces.place(this.bodies);
    this.drawn.wires?.place(this.bodies);
    if (this.joints.group.visible) this.joints.place(this.bodies, time);
    if (this.springs.mesh.visible) this.springs.place(this.bodies);
    if (this.axes.mesh.visible) this.axes.place(this.bodies);
    if (this.contacts?.group.visible) this.contacts.place(this.frame);
    for (const trail of this.trails.values()) trail.place(time);
    this.goAlong();
    this.cost.update = performance.now() - began;
    this.dirty = true;
  }

  /** The recorded instant that is shown, or the last before. */
  get frame(): number {
    return findBefore(this.frames.times, this.time);
  }

  /** Draws, if anything changed. */
  render(): boolean {
    this.controls.update();
    if (!this.dirty) return false;
    this.dirty = false;
    const began = performance.now();
    this.renderer.render(this.scene, this.camera);
    this.labels.place(this.camera, this.bodies, (joint) => this.joints.position(this.bodies, joint), this.selected);
    this.cost.draw = performance.now() - began;
    return true;
  }

  set theme(name: "light" | "dark") {
    const theme = THEMES[name];
    this.scene.background = new three.Color(theme.background);
    this.sky.color.setHex(theme.sky);
    this.ground.theme = theme;
    this.joints.colour = theme.joint;
    this.seek(this.time);
  }

  /** Shows or hides a kind of thing. */
  show(layer: Layer, isShown: boolean): void {
    const things: Record<Layer, { visible: boolean } | undefined> = {
      joints: this.joints.group,
      contacts: this.contacts?.group,
      springs: this.springs.mesh,
      trails: this.trailGroup,
      frames: this.axes.mesh,
      labels: this.labels,
      ground: this.ground.group,
    };
    const thing = things[layer];
    if (thing) thing.visible = isShown;
    this.seek(this.time);
  }

  isShown(layer: Layer): boolean {
    const things = { joints: this.joints.group, contacts: this.contacts?.group, springs: this.springs.mesh, trails: this.trailGroup };
    const others = { frames: this.axes.mesh, labels: this.labels, ground: this.ground.group };
    return { ...things, ...others }[layer]?.visible ?? false;
  }

  has(layer: Layer): boolean {
    const { cast, contacts } = this.header;
    if (layer === "joints") return cast.joints.length > 0;
    if (layer === "contacts") return contacts !== null;
    if (layer === "springs") return cast.springs.length > 0;
    return true;
  }

  /** Turns the camera to the whole scene; a plane mechanism is looked at from the front. */
  look(direction?: Vec3): void {
    const { centre, corners, radius, side } = this.box;
    const from = new three.Vector3(...(direction ?? side)).normalize();
    const right = new three.Vector3().crossVectors(this.camera.up, from).normalize();
    const above = new three.Vector3().crossVectors(from, right);
    const tall = Math.tan((this.camera.fov * Math.PI) / 360);
    const wide = tall * this.camera.aspect;
    // As near as all corners of the box allow.
    let distance = 0.2 * radius;
    for (const corner of corners) {
      const d = new three.Vector3(...corner).sub(new three.Vector3(...centre));
      const out = Math.max(Math.abs(d.dot(right)) / wide, Math.abs(d.dot(above)) / tall);
      distance = Math.max(distance, 1.12 * out + d.dot(from));
    }
    this.controls.target.set(...centre);
    this.camera.position.set(...centre).addScaledVector(from, distance);
    this.camera.lookAt(this.controls.target);
    this.dirty = true;
  }

  /** Keeps a body in the middle; −1 for none. */
  follow(body: number): void {
    this.followed = body;
    this.goAlong();
    this.dirty = true;
  }

  get follows(): number {
    return this.followed;
  }

  select(picked: Picked): void {
    if (this.selected?.kind === "body") this.mark(this.selected.index, null);
    this.selected = picked;
    if (picked?.kind === "body") this.mark(picked.index, SELECTED);
    this.dirty = true;
    for (const tell of this.onPick) tell(picked);
  }

  get selection(): Picked {
    return this.selected;
  }

  onSelect(tell: (picked: Picked) => void): void {
    this.onPick.push(tell);
  }

  /** Shows the path of a body's centre of mass, or hides it. Returns whether it is shown. */
  toggleTrail(body: number): boolean {
    const name = `body ${body}`;
    const known = this.trails.get(name);
    if (known) {
      this.trailGroup.remove(known.group);
      this.trails.delete(name);
    } else {
      this.addTrail(name, new Trail(this.frames, { body, p: [0, 0, 0] }));
    }
    this.seek(this.time);
    return !known;
  }

  /** Hides what lies beyond a plane. */
  cut(cut: Cut | null): void {
    if (!cut) {
      this.renderer.clippingPlanes = [];
    } else {
      const sign = cut.flip ? 1 : -1;
      const normal = new three.Vector3();
      normal.setComponent(cut.axis, sign);
      const at = this.box.centre[cut.axis] + (2 * cut.share - 1) * this.box.radius;
      this.renderer.clippingPlanes = [new three.Plane(normal, -sign * at)];
    }
    this.dirty = true;
  }

  /** What is at a point of the canvas. */
  pickAt(x: number, y: number): Picked {
    const size = this.canvas.getBoundingClientRect();
    const at = new three.Vector2((2 * x) / size.width - 1, 1 - (2 * y) / size.height);
    return pick(at, this.camera, this.drawn.pieces, this.joints.group.visible ? this.joints.meshes : []);
  }

  /** Where a body is on the canvas. */
  project(body: number): [number, number] {
    const size = this.canvas.getBoundingClientRect();
    const p = new three.Vector3(...this.centre(body)).project(this.camera);
    return [((p.x + 1) / 2) * size.width, ((1 - p.y) / 2) * size.height];
  }

  /** The centre of mass of a body as it is drawn. */
  centre(body: number): Vec3 {
    return [this.bodies[16 * body + 12], this.bodies[16 * body + 13], this.bodies[16 * body + 14]];
  }

  /** What touches a body now. */
  contactsOf(body: number): { count: number; force: number; slipping: number } | null {
    return this.contacts?.of(body, this.frame) ?? null;
  }

  jointState(joint: number): string {
    return this.joints.stateAt(joint, this.time);
  }

  /** Frees the graphics card. */
  dispose(): void {
    this.renderer.dispose();
    this.renderer.forceContextLoss();
    this.labels.dispose();
    this.canvas.remove();
  }

  private mark(body: number, colour: number | null): void {
    for (const pieces of this.drawn.pieces) pieces.highlight(body, colour);
  }

  private addTrail(name: string, trail: Trail): void {
    this.trails.set(name, trail);
    this.trailGroup.add(trail.group);
  }

  private goAlong(): void {
    if (this.followed < 0 || this.bodies[16 * this.followed + 15] === 0) return;
    const to = new three.Vector3(...this.centre(this.followed));
    const by = to.clone().sub(this.controls.target);
    this.controls.target.copy(to);
    this.camera.position.add(by);
  }

  private setLight(): void {
    const { centre, radius, up } = this.box;
    const toLight = new three.Vector3(0.5, -0.7, 0.4).addScaledVector(new three.Vector3(...up), 1.4).normalize();
    this.light.position.set(...centre).addScaledVector(toLight, 4 * radius);
    this.light.target.position.set(...centre);
    this.light.castShadow = this.renderer.shadowMap.enabled;
    this.light.shadow.mapSize.set(2048, 2048);
    const reach = 1.4 * radius;
    Object.assign(this.light.shadow.camera, { left: -reach, right: reach, bottom: -reach, top: reach, near: radius, far: 8 * radius });
    this.light.shadow.bias = -0.001;
    this.light.shadow.normalBias = 0.004 * radius;
  }

  private watchSize(host: HTMLElement): void {
    const fit = () => {
      const [width, height] = [Math.max(1, host.clientWidth), Math.max(1, host.clientHeight)];
      this.renderer.setSize(width, height);
      this.camera.aspect = width / height;
      this.camera.updateProjectionMatrix();
      this.dirty = true;
    };
    fit();
    this.look();
    new ResizeObserver(fit).observe(host);
  }

  /** A press that does not move is a choice; one that does turns the camera. */
  private watchPointer(): void {
    let down: [number, number] | null = null;
    this.canvas.addEventListener("pointerdown", (event) => (down = [event.clientX, event.clientY]));
    this.canvas.addEventListener("pointerup", (event) => {
      if (down && Math.hypot(event.clientX - down[0], event.clientY - down[1]) < 5) {
        const size = this.canvas.getBoundingClientRect();
        this.select(this.pickAt(event.clientX - size.left, event.clientY - size.top));
      }
      down = null;
    });
  }
}
