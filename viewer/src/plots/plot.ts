/** One panel: series that share an axis, over time. */

import type { Clock } from "../clock.ts";
import { findBefore } from "../pack/frames.ts";
import type { Happening, Panel } from "../pack/header.ts";
import { LINES } from "../replay/palette.ts";
import { button, digits, download, draw, make } from "../ui/dom.ts";
import { choose } from "./choose.ts";
import { axisName, type Data } from "./data.ts";
import { pathOf, type Points, valueAt } from "./path.ts";
import { fit, place, type Scale, ticks, tickText } from "./scale.ts";
import type { Window } from "./window.ts";

const MARGIN = { left: 66, right: 12, top: 10, bottom: 32 };
const HEIGHT = 210;
/** More marks than this would hide what they mark. */
const MOST_MARKS = 150;

export class Plot {
  readonly element: HTMLElement;
  private readonly panel: Panel;
  private readonly data: Data;
  private readonly clock: Clock;
  private readonly window: Window;
  private readonly svg = draw("svg", { class: "plot", role: "img", tabindex: "0" });
  private readonly legend = make("ul", { class: "legend" });
  private readonly cursor = draw("line", { class: "cursor", stroke: "#d55e00", "stroke-width": 1.5 });
  private readonly hover = draw("line", { class: "hover", stroke: "#888", "stroke-dasharray": "3 3", visibility: "hidden" });
  private points: Points[] = [];
  private readonly hidden = new Set<number>();
  private isWrapped = false;
  private width = 0;
  private scale: Scale = { low: 0, high: 1, isLog: false };
  private hovered: number | null = null;

  constructor(panel: Panel, data: Data, clock: Clock, window: Window, remove: () => void) {
    this.panel = { ...panel, series: [...panel.series] };
    [this.data, this.clock, this.window] = [data, clock, window];
    const tools = make("span", { class: "tools" });
    this.element = make("figure", { class: "panel" }, make("figcaption", {}, make("strong", {}, panel.title), tools), this.svg, this.legend);
    if (this.panel.series.some((i) => data.series(i).quantity === "angle")) {
      const wrap = make("input", { type: "checkbox" });
      wrap.addEventListener("change", () => {
        this.isWrapped = wrap.checked;
        void this.load();
      });
      tools.append(make("label", { title: "Angles between −π and π" }, wrap, "wrap"));
    }
    const log = make("input", { type: "checkbox" });
    log.checked = this.panel.is_log;
    log.addEventListener("change", () => {
      this.panel.is_log = log.checked;
      this.redraw();
    });
    tools.append(
      make("label", { title: "Logarithmic axis" }, log, "log"),
      button("+", "Choose series", () => choose(data.header, this.panel.series, (series) => void this.set(series))),
      button("SVG", `Download ${panel.title} as SVG`, () => this.saveSvg()),
      button("CSV", `Download ${panel.title} as CSV`, () => this.saveCsv()),
      button("×", `Remove the panel ${panel.title}`, remove),
    );
    this.watch();
    void this.load();
    new ResizeObserver(() => this.redraw()).observe(this.element);
    window.onChange(() => this.redraw());
  }

  /** Shows other series. */
  async set(series: number[]): Promise<void> {
    this.panel.series.splice(0, this.panel.series.length, ...series);
    this.hidden.clear();
    await this.load();
  }

  /** Where the cursor stands, in dots of the drawing. */
  get cursorX(): number {
    return Number(this.cursor.getAttribute("x1"));
  }

  /** Moves the cursor; values follow unless that would be too often. */
  tick(withValues: boolean): void {
    const x = this.x(this.clock.time).toFixed(1);
    this.cursor.setAttribute("x1", x);
    this.cursor.setAttribute("x2", x);
    const isInside = this.clock.time >= this.window.from && this.clock.time <= this.window.to;
    this.cursor.setAttribute("visibility", isInside ? "visible" : "hidden");
    if (withValues) this.tellValues();
  }

  private async load(): Promise<void> {
    this.points = await Promise.all(this.panel.series.map((i) => this.data.points(i, this.isWrapped)));
    this.fillLegend();
    this.redraw();
  }

  private x(time: number): number {
    const { from, to } = this.window;
    return MARGIN.left + ((time - from) / (to - from || 1)) * (this.width - MARGIN.left - MARGIN.right);
  }

  private timeAt(x: number): number {
    const share = (x - MARGIN.left) / Math.max(1, this.width - MARGIN.left - MARGIN.right);
    return this.window.from + Math.min(1, Math.max(0, share)) * (this.window.to - this.window.from);
  }

  /** Rows of a series within the window, and one on each side of it. */
  private rows(points: Points): [number, number] {
    if (points.times.length === 0) return [0, 0];
    const from = findBefore(points.times, this.window.from);
    return [from, Math.min(points.times.length, findBefore(points.times, this.window.to) + 2)];
  }

  private colour(k: number): string {
    return LINES[k % LINES.length];
  }

  redraw(): void {
    this.width = Math.max(240, this.element.clientWidth - 2);
    const [width, bottom] = [this.width, HEIGHT - MARGIN.bottom];
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    this.points.forEach((points, k) => {
      if (this.hidden.has(k)) return;
      const [from, to] = this.rows(points);
      for (let i = from; i < to; i++) {
        const value = points.values[i];
        if (!Number.isFinite(value) || (this.panel.is_log && value <= 0)) continue;
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
    });
    if (low > high) [low, high] = this.panel.is_log ? [1e-16, 1] : [0, 1];
    this.scale = fit(low, high, this.panel.is_log);
    const y = (value: number) => bottom - place(this.scale, value) * (bottom - MARGIN.top);
    const x = (time: number) => this.x(time);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    this.svg.setAttribute("height", String(HEIGHT));
    this.svg.setAttribute("aria-label", this.describe(low, high));
    const clip = `clip-${Math.random().toString(36).slice(2)}`;
    const area = draw("rect", { x: MARGIN.left, y: MARGIN.top, width: width - MARGIN.left - MARGIN.right, height: bottom - MARGIN.top });
    const lines = draw("g", { "clip-path": `url(#${clip})` });
    this.points.forEach((points, k) => {
      if (this.hidden.has(k)) return;
      const [from, to] = this.rows(points);
      const d = pathOf(points, from, to, x, y, width);
      // Patterns tell lines apart where colours do not.
      const dash = k < 4 ? "none" : k % 2 === 0 ? "6 3" : "2 2";
      lines.append(draw("path", { d, fill: "none", stroke: this.colour(k), "stroke-width": 1.6, "stroke-dasharray": dash }));
    });
    this.svg.replaceChildren(
      draw("title", {}, this.panel.title),
      draw("defs", {}, draw("clipPath", { id: clip }, area)),
      ...this.axes(y, bottom),
      ...this.marks(bottom),
      lines,
      this.hover,
      this.cursor,
    );
    for (const line of [this.cursor, this.hover]) {
      line.setAttribute("y1", String(MARGIN.top));
      line.setAttribute("y2", String(bottom));
    }
    this.tick(true);
  }

  private axes(y: (value: number) => number, bottom: number): SVGElement[] {
    const grid = { stroke: "currentColor", "stroke-opacity": 0.13 };
    const font = { "font-size": 11, "font-family": "system-ui, sans-serif", fill: "currentColor" };
    const parts: SVGElement[] = [];
    const values = ticks(this.scale, 5);
    const stride = values.length > 1 ? values[1] - values[0] : 1;
    for (const value of values) {
      const at = y(value);
      parts.push(draw("line", { x1: MARGIN.left, x2: this.width - MARGIN.right, y1: at, y2: at, ...grid }));
      const text = tickText(value, stride, this.panel.is_log);
      parts.push(draw("text", { x: MARGIN.left - 6, y: at + 4, "text-anchor": "end", ...font }, text));
    }
    const times = ticks({ low: this.window.from, high: this.window.to, isLog: false }, Math.max(3, Math.floor(this.width / 110)));
    const timeStride = times.length > 1 ? times[1] - times[0] : 1;
    for (const time of times) {
      const at = this.x(time);
      parts.push(draw("line", { x1: at, x2: at, y1: MARGIN.top, y2: bottom, ...grid }));
      parts.push(draw("text", { x: at, y: bottom + 14, "text-anchor": "middle", ...font }, tickText(time, timeStride, false)));
    }
    const quantity = this.panel.series.length > 0 ? this.data.series(this.panel.series[0]).quantity : "count";
    const middle = (MARGIN.top + bottom) / 2;
    const label = { transform: `rotate(-90 12 ${middle})`, x: 12, y: middle, "text-anchor": "middle", ...font };
    parts.push(draw("text", label, axisName(quantity)));
    parts.push(draw("text", { x: this.width - MARGIN.right, y: bottom + 28, "text-anchor": "end", ...font }, "time"));
    return parts;
  }

  /** Lines at the times of events. */
  private marks(bottom: number): SVGElement[] {
    const { from, to } = this.window;
    const seen = this.data.header.events.filter((event) => event.time >= from && event.time <= to);
    if (seen.length > MOST_MARKS) return [];
    const name = (event: Happening) => `${event.name} (${event.kind}) at t = ${digits(event.time, 7)}`;
    return seen.map((event) => {
      const at = this.x(event.time);
      const line = { x1: at, x2: at, y1: MARGIN.top, y2: bottom, stroke: "#a0409a", "stroke-width": 1, "stroke-dasharray": "4 3" };
      return draw("g", { class: "event" }, draw("line", { ...line, "stroke-opacity": 0.7 }), draw("title", {}, name(event)));
    });
  }

  /** The panel in words. */
  private describe(low: number, high: number): string {
    const names = this.panel.series.map((i) => this.data.series(i).name).join(", ");
    const { from, to } = this.window;
    return `${this.panel.title}: ${names}; values from ${digits(low)} to ${digits(high)} between t = ${digits(from)} and ${digits(to)}. Download CSV for the numbers.`;
  }

  private fillLegend(): void {
    this.legend.replaceChildren(
      ...this.panel.series.map((index, k) => {
        const toggle = button("", `Show or hide ${this.data.series(index).name}`, () => {
          if (this.hidden.has(k)) this.hidden.delete(k);
          else this.hidden.add(k);
          toggle.setAttribute("aria-pressed", String(!this.hidden.has(k)));
          this.redraw();
        });
        toggle.setAttribute("aria-pressed", "true");
        const swatch = make("i", { style: `background:${this.colour(k)}` });
        toggle.append(swatch, make("span", { class: "name" }, this.data.series(index).name), make("output", {}));
        return make("li", {}, toggle);
      }),
    );
  }

  /** Values at the pointer, or at the cursor. */
  private tellValues(): void {
    const time = this.hovered ?? this.clock.time;
    this.points.forEach((points, k) => {
      const output = this.legend.children[k]?.querySelector("output");
      if (!output) return;
      const value = points.times.length > 0 ? valueAt(points, time, findBefore(points.times, time)) : Number.NaN;
      output.textContent = digits(value);
    });
  }

  private watch(): void {
    const at = (event: PointerEvent | WheelEvent) => {
      const size = this.svg.getBoundingClientRect();
      return this.timeAt(((event.clientX - size.left) / size.width) * this.width);
    };
    let from: number | null = null;
    this.svg.addEventListener("pointerdown", (event) => {
      from = at(event);
      this.svg.setPointerCapture(event.pointerId);
      if (!event.shiftKey) this.clock.seek(from);
    });
    this.svg.addEventListener("pointermove", (event) => {
      this.hovered = at(event);
      const x = this.x(this.hovered).toFixed(1);
      this.hover.setAttribute("x1", x);
      this.hover.setAttribute("x2", x);
      this.hover.setAttribute("visibility", "visible");
      if (from !== null && !event.shiftKey) this.clock.seek(this.hovered);
      this.tellValues();
    });
    this.svg.addEventListener("pointerup", (event) => {
      const to = at(event);
      const least = (this.window.to - this.window.from) / 100;
      if (from !== null && event.shiftKey && Math.abs(to - from) > least) this.window.set(Math.min(from, to), Math.max(from, to));
      from = null;
    });
    this.svg.addEventListener("pointerleave", () => {
      this.hovered = null;
      this.hover.setAttribute("visibility", "hidden");
      this.tellValues();
    });
    this.svg.addEventListener("dblclick", () => this.window.reset());
    this.svg.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.shiftKey) return;
        event.preventDefault();
        this.window.zoom(at(event), (event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8);
      },
      { passive: false },
    );
    this.svg.addEventListener("keydown", (event) => {
      if (event.key === "+" || event.key === "=") this.window.zoom(this.clock.time, 0.7);
      else if (event.key === "-") this.window.zoom(this.clock.time, 1 / 0.7);
      else if (event.key === "0") this.window.reset();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  private fileName(ending: string): string {
    return `${this.data.header.name}-${this.panel.title}`.replace(/[^\p{L}\p{N}]+/gu, "-") + ending;
  }

  private saveSvg(): void {
    const copy = this.svg.cloneNode(true) as SVGSVGElement;
    for (const line of copy.querySelectorAll(".hover, .cursor")) line.remove();
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("width", String(this.width));
    copy.setAttribute("color", "#222");
    // Names of the lines, which on the page stand below the drawing.
    const font = { "font-size": 11, "font-family": "system-ui, sans-serif" };
    this.panel.series.forEach((index, k) => {
      const at = { x: MARGIN.left + 8, y: MARGIN.top + 14 + 14 * k, fill: this.colour(k), ...font };
      copy.append(draw("text", at, this.data.series(index).name));
    });
    download(this.fileName(".svg"), "image/svg+xml", new XMLSerializer().serializeToString(copy));
  }

  /** Rows of the window, at the times of the first series; what has other times is taken at these. */
  private saveCsv(): void {
    if (this.points.length === 0) return;
    const quote = (name: string) => (/[",\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name);
    const rows = [["t", ...this.panel.series.map((i) => quote(this.data.series(i).name))].join(",")];
    const [from, to] = this.rows(this.points[0]);
    for (let i = from; i < to; i++) {
      const time = this.points[0].times[i];
      if (time < this.window.from || time > this.window.to) continue;
      const values = this.points.map((p) => (p.times === this.points[0].times ? p.values[i] : valueAt(p, time, findBefore(p.times, time))));
      rows.push([time, ...values.map((value) => (Number.isFinite(value) ? value : ""))].join(","));
    }
    download(this.fileName(".csv"), "text/csv", `${rows.join("\n")}\n`);
  }
}
