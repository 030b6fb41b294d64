/** The page put together: replay on one side, plots and certificate on the other, one clock for all. */

import { Clock } from "../clock.ts";
import type { Pack } from "../pack/read.ts";
import { Data } from "../plots/data.ts";
import { choose } from "../plots/choose.ts";
import { Plot } from "../plots/plot.ts";
import { Window } from "../plots/window.ts";
import type { Cut, Layer } from "../replay/stage.ts";
import { Stage } from "../replay/stage.ts";
import { badge, certificate } from "./certificate.ts";
import { button, digits, make } from "./dom.ts";
import { help, listenToKeys } from "./keys.ts";
import { Selection } from "./selection.ts";
import { Transport } from "./transport.ts";

/** Values beside the plots follow at most so often while it plays, in milliseconds. */
const VALUES = 120;

type Tab = "plots" | "certificate";

export class App {
  readonly pack: Pack;
  readonly stage: Stage;
  readonly clock: Clock;
  readonly data: Data;
  readonly plots: Plot[] = [];
  readonly window: Window;
  readonly transport: Transport;
  readonly element: HTMLElement;
  /** What a frame took, in milliseconds: the mean of the last ones. */
  readonly pace = { frames: 0, script: 0, elapsed: 0 };
  private readonly selection: Selection;
  private readonly plotList = make("div", { class: "plots" });
  private isOver = false;
  private told = 0;
  private theme: "light" | "dark" = "light";

  static async build(pack: Pack, host: HTMLElement): Promise<App> {
    const view = make("div", { class: "view" });
    const element = make("div", { class: "app" }, view);
    host.replaceChildren(element);
    const stage = await Stage.build(pack, view);
    return new App(pack, stage, element, view);
  }

  private constructor(pack: Pack, stage: Stage, element: HTMLElement, view: HTMLElement) {
    const { header } = pack;
    [this.pack, this.stage, this.element] = [pack, stage, element];
    this.clock = new Clock(stage.frames.start, stage.frames.end);
    this.data = new Data(pack);
    this.window = new Window(stage.frames.start, stage.frames.end);
    this.transport = new Transport(this.clock, stage.frames, header.events);
    this.selection = new Selection(stage, this.data, this.clock);
    const isStill = stage.frames.count < 2;
    const side = make("div", { class: "side" });
    const tabs = this.makeTabs(side, isStill);
    element.prepend(this.makeHead());
    element.append(side);
    side.append(tabs);
    view.append(this.selection.element, this.makeLegend());
    const { unseen } = header.frames;
    if (unseen > 0) {
      const of = header.cast.bodies.length;
      const words = `${unseen} of ${of} bodies are not drawn: neither they nor joints that lead to them were recorded (output.bodies, output.joints).`;
      view.append(make("p", { class: "note" }, words));
    }
    if (!isStill) element.append(this.transport.element);
    for (const panel of header.panels) this.addPlot(panel);
    this.clock.onTime((time) => this.show(time));
    stage.onSelect(() => this.selection.tick());
    this.setTheme(this.wantedTheme());
    listenToKeys(this);
    this.loop();
  }

  /** Stops the loop and frees what was taken. */
  dispose(): void {
    this.isOver = true;
    this.stage.dispose();
  }

  toggle(layer: Layer): void {
    const isShown = !this.stage.isShown(layer);
    this.stage.show(layer, isShown);
    const box = this.element.querySelector<HTMLInputElement>(`[data-layer="${layer}"]`);
    if (box) box.checked = isShown;
  }

  setTheme(theme: "light" | "dark"): void {
    this.theme = theme;
    document.documentElement.dataset["theme"] = theme;
    this.stage.theme = theme;
  }

  switchTheme(): void {
    this.setTheme(this.theme === "light" ? "dark" : "light");
  }

  tab(name: Tab): void {
    this.element.querySelector<HTMLButtonElement>(`[data-tab="${name}"]`)?.click();
  }

  private wantedTheme(): "light" | "dark" {
    const known = document.documentElement.dataset["theme"];
    if (known === "dark" || known === "light") return known;
    return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }

  private show(time: number): void {
    this.stage.seek(time);
    this.transport.tick();
    const now = performance.now();
    const withValues = !this.clock.isPlaying || now - this.told > VALUES;
    if (withValues) this.told = now;
    for (const plot of this.plots) plot.tick(withValues);
    if (withValues) this.selection.tick();
  }

  private loop(): void {
    let last = performance.now();
    const frame = () => {
      if (this.isOver) return;
      const began = performance.now();
      // A page that was in the background goes on where it was.
      this.clock.advance(Math.min(0.25, (began - last) / 1000));
      if (this.stage.render()) {
        this.pace.frames++;
        this.pace.script += performance.now() - began;
        this.pace.elapsed += Math.min(1000, began - last);
      }
      last = began;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  private makeHead(): HTMLElement {
    const { header } = this.pack;
    const verdict = button("", "Show the certificate", () => this.tab("certificate"));
    verdict.append(badge(header.verdict));
    const title = make("h1", {}, header.title);
    const state = header.is_finished ? "" : header.frames.count > 1 ? "not finished" : "initial pose";
    return make(
      "header",
      {},
      title,
      make("span", { class: "quiet" }, state),
      make("span", { class: "grow" }),
      ...(header.certificate.lines.length ? [verdict] : []),
      button("◐", "Light or dark (d)", () => this.switchTheme()),
      button("?", "Keys (?)", () => help()),
    );
  }

  /** Which kinds of thing are shown, and the cut. */
  private makeLegend(): HTMLElement {
    const names: [Layer, string][] = [
      ["joints", "joints (j)"],
      ["contacts", "contacts (c)"],
      ["springs", "springs (s)"],
      ["trails", "paths"],
      ["frames", "frames (x)"],
      ["labels", "labels (l)"],
      ["ground", "ground (g)"],
    ];
    const list = names.filter(([layer]) => this.stage.has(layer)).map(([layer, name]) => {
      const box = make("input", { type: "checkbox", "data-layer": layer });
      box.checked = this.stage.isShown(layer);
      box.addEventListener("change", () => this.stage.show(layer, box.checked));
      return make("li", {}, make("label", {}, box, name));
    });
    const misfits = (this.pack.header.misfits ?? []).map(({ kind, what, size }) => make("li", { class: "misfit" }, `${kind}: ${what}, ${digits(size, 3)}`));
    const modes = this.stage.has("contacts")
      ? [make("li", { class: "modes" }, make("i", { class: "stick" }), "stick ", make("i", { class: "slip" }), "slip")]
      : [];
    const body = make("ul", {}, ...list, make("li", {}, this.makeCut()), ...modes, ...misfits);
    const details = make("details", { class: "layers" }, make("summary", {}, "View"), body);
    details.open = misfits.length > 0;
    return details;
  }

  private makeCut(): HTMLElement {
    const axis = make("select", { "aria-label": "Section" });
    for (const [value, name] of [["", "no section"], ["0", "section x"], ["1", "section y"], ["2", "section z"]]) {
      axis.append(make("option", { value }, name));
    }
    const share = make("input", { type: "range", min: "0", max: "1", step: "0.005", value: "0.5", "aria-label": "Place of the section" });
    const flip = make("input", { type: "checkbox", "aria-label": "Other side" });
    const apply = () => {
      const cut: Cut | null = axis.value === "" ? null : { axis: Number(axis.value) as 0 | 1 | 2, share: Number(share.value), flip: flip.checked };
      share.hidden = flip.hidden = cut === null;
      this.stage.cut(cut);
    };
    for (const input of [axis, share, flip]) input.addEventListener("input", apply);
    share.hidden = flip.hidden = true;
    return make("span", { class: "cut" }, axis, share, flip);
  }

  private makeTabs(side: HTMLElement, isStill: boolean): HTMLElement {
    const add = button("+ panel", "Add a panel", () => {
      choose(this.pack.header, [], (series) => {
        if (series.length) this.addPlot({ title: this.data.series(series[0]).name, series, is_log: false });
      });
    });
    const hint = "Drag: move the time. Shift and drag, or Ctrl and wheel: zoom. Double click: everything.";
    const plots = make("div", { role: "tabpanel", id: "plots", "aria-label": "Plots" }, make("p", { class: "quiet" }, hint), this.plotList, add);
    const paper = make("div", { role: "tabpanel", id: "certificate", "aria-label": "Certificate" }, certificate(this.pack.header));
    const panels: Record<Tab, HTMLElement> = { plots, certificate: paper };
    const buttons = (Object.keys(panels) as Tab[]).map((name) => {
      const tab = make("button", { type: "button", role: "tab", "data-tab": name, "aria-controls": name }, name === "plots" ? "Plots" : "Certificate");
      tab.addEventListener("click", () => {
        for (const other of buttons) other.setAttribute("aria-selected", String(other === tab));
        for (const [key, panel] of Object.entries(panels)) panel.hidden = key !== name;
        side.scrollTop = 0;
      });
      return tab;
    });
    side.append(plots, paper);
    const first = isStill || this.pack.header.panels.length === 0 ? 1 : 0;
    buttons[first].click();
    return make("div", { role: "tablist", class: "tabs" }, ...buttons);
  }

  private addPlot(panel: { title: string; series: number[]; is_log: boolean }): void {
    const plot: Plot = new Plot(panel, this.data, this.clock, this.window, () => {
      plot.element.remove();
      this.plots.splice(this.plots.indexOf(plot), 1);
    });
    this.plots.push(plot);
    this.plotList.append(plot.element);
  }
}
