/** Keys: everything that the pointer can do. */

import type { App } from "./app.ts";
import { make } from "./dom.ts";

const KEYS: [string, string][] = [
  ["space", "play or pause"],
  ["← →", "one recorded instant; with shift ten"],
  ["Home End", "start, end"],
  [", .", "slower, faster"],
  ["[ ]", "choose the body before, the next"],
  ["( )", "choose the joint before, the next"],
  ["f", "follow the chosen body"],
  ["t", "path of the chosen body"],
  ["Escape", "choose nothing, follow nothing"],
  ["j c s x l g", "show or hide joints, contacts, springs, frames, labels, ground"],
  ["r", "look at everything"],
  ["1 2 3", "look along x, y, z"],
  ["p k", "plots, certificate"],
  ["d", "light or dark"],
  ["+ − 0", "on a plot: zoom in, out, everything"],
  ["?", "this list"],
];

/** Shows what the keys do. */
export function help(): void {
  const rows = KEYS.map(([keys, what]) => make("tr", {}, make("th", { scope: "row" }, make("kbd", {}, keys)), make("td", {}, what)));
  const close = make("button", { type: "submit" }, "Close");
  const pointer = "Pointer: drag turns, the right button or two fingers move, the wheel or two fingers zoom, a click chooses.";
  const form = make("form", { method: "dialog" }, make("h2", {}, "Keys"), make("table", {}, ...rows), make("p", {}, pointer), close);
  const dialog = make("dialog", { "aria-label": "Keys" }, form);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

let current: App | null = null;

/** Listens to the keys of the page, for the app that was built last. */
export function listenToKeys(app: App): void {
  if (current === null) document.addEventListener("keydown", (event) => current && press(current, event));
  current = app;
}

function press(app: App, event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  const isTyping = target.matches("input:not([type=checkbox]):not([type=range]), textarea, select") || target.closest("dialog") !== null;
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  // A button or a box that has the focus is pressed by space; a slider goes by arrows.
  if (event.key === " " && target.matches("button, input, summary")) return;
  if (event.key.startsWith("Arrow") && target.matches("input[type=range]")) return;
  if (act(app, event.key, event.shiftKey)) event.preventDefault();
}

function act(app: App, key: string, isShifted: boolean): boolean {
  const { stage, clock, transport } = app;
  const bodies = stage.header.cast.bodies.length;
  const joints = stage.header.cast.joints.length;
  const chosen = stage.selection?.kind === "body" ? stage.selection.index : -1;
  const joint = stage.selection?.kind === "joint" ? stage.selection.index : -1;
  const round = (index: number, n: number) => (n > 0 ? ((index % n) + n) % n : -1);
  const chooseBody = (index: number) => index >= 0 && stage.select({ kind: "body", index });
  const chooseJoint = (index: number) => index >= 0 && stage.select({ kind: "joint", index });
  const actions: Record<string, () => unknown> = {
    " ": () => clock.toggle(),
    ArrowLeft: () => transport.step(isShifted ? -10 : -1),
    ArrowRight: () => transport.step(isShifted ? 10 : 1),
    Home: () => clock.seek(clock.start),
    End: () => clock.seek(clock.end),
    ",": () => (clock.speed /= 2),
    ".": () => (clock.speed *= 2),
    "]": () => chooseBody(round(chosen + 1, bodies)),
    "[": () => chooseBody(round(chosen < 0 ? -1 : chosen - 1, bodies)),
    ")": () => chooseJoint(round(joint + 1, joints)),
    "(": () => chooseJoint(round(joint < 0 ? -1 : joint - 1, joints)),
    f: () => stage.follow(stage.follows === chosen ? -1 : chosen),
    t: () => chosen >= 0 && stage.toggleTrail(chosen),
    Escape: () => (stage.select(null), stage.follow(-1)),
    j: () => app.toggle("joints"),
    c: () => app.toggle("contacts"),
    s: () => app.toggle("springs"),
    x: () => app.toggle("frames"),
    l: () => app.toggle("labels"),
    g: () => app.toggle("ground"),
    r: () => stage.look(),
    "1": () => stage.look([1, 0, 0.001]),
    "2": () => stage.look([0, -1, 0.001]),
    "3": () => stage.look([0, -0.001, 1]),
    p: () => app.tab("plots"),
    k: () => app.tab("certificate"),
    d: () => app.switchTheme(),
    "?": () => help(),
  };
  const action = actions[key];
  if (!action) return false;
  action();
  return true;
}
