/** Where the page begins: finds its numbers, in itself or on the server that it came from, and shows them or says what is wrong. */

import { fromBase64, Pack, PackError } from "./pack/read.ts";
import "./style.css";
import { App } from "./ui/app.ts";
import { make } from "./ui/dom.ts";

declare global {
  interface Window {
    /** For tests and for those who like to look behind. */
    signorini?: App;
  }
}

/** How often a served page asks whether there is anything new, in milliseconds. */
const ASK = 700;

const host = document.getElementById("app") as HTMLElement;
const source = document.getElementById("pack");
let app: App | null = null;

/** Says what is wrong, and shows what is there without numbers. */
function complain(message: string): void {
  app?.dispose();
  app = null;
  const words = document.getElementById("words");
  if (words?.textContent?.trim()) words.hidden = false;
  host.replaceChildren(make("div", { class: "trouble", role: "alert" }, make("h1", {}, "This cannot be shown"), make("p", {}, message)));
}

function explain(error: unknown): string {
  if (error instanceof PackError) return error.message;
  const message = error instanceof Error ? error.message : String(error);
  return /webgl/i.test(message) ? `The replay needs WebGL, which this browser does not offer: ${message}` : `The page cannot be shown: ${message}`;
}

/** Shows numbers; what was chosen before stays chosen. */
async function show(bytes: Uint8Array, goToEnd: boolean): Promise<void> {
  const pack = await Pack.open(bytes);
  document.title = pack.header.title;
  const before = app;
  const time = before?.clock.time;
  const isPlaying = before?.clock.isPlaying ?? false;
  const camera = before?.stage.camera.position.toArray();
  const target = before?.stage.controls.target.toArray();
  before?.dispose();
  app = await App.build(pack, host);
  window.signorini = app;
  if (camera && target) {
    app.stage.controls.target.fromArray(target);
    app.stage.camera.position.fromArray(camera);
  }
  if (goToEnd) app.clock.seek(app.clock.end);
  else if (time !== undefined) app.clock.seek(time);
  if (isPlaying && !goToEnd) app.clock.play();
}

/** Follows what a server has to show, as long as it is there. */
async function follow(): Promise<void> {
  let known = "";
  let misses = 0;
  for (;;) {
    try {
      const state = (await (await fetch("state", { cache: "no-store" })).json()) as { version: string; error: string | null; is_live: boolean };
      misses = 0;
      if (state.version !== known) {
        known = state.version;
        if (state.error !== null) {
          complain(state.error);
        } else {
          const isAtEnd = app !== null && app.clock.time >= app.clock.end && !app.clock.isPlaying;
          const answer = await fetch("pack", { cache: "no-store" });
          if (answer.ok) await show(new Uint8Array(await answer.arrayBuffer()), state.is_live && (app === null || isAtEnd));
          else complain(await answer.text());
        }
      }
    } catch (error) {
      if (error instanceof PackError) complain(error.message);
      else if (++misses > 3) return;
    }
    await new Promise((wake) => setTimeout(wake, ASK));
  }
}

async function begin(): Promise<void> {
  if (source?.dataset["served"]) return follow();
  const text = source?.textContent?.trim() ?? "";
  if (text === "") throw new PackError("There are no numbers in this page: it was cut short, or is a viewer without a recording.");
  await show(fromBase64(text), false);
}

begin().catch((error: unknown) => complain(explain(error)));
