/** Play, pause, step, speed, and the time as a slider. */

import type { Clock } from "../clock.ts";
import type { Frames } from "../pack/frames.ts";
import { findBefore } from "../pack/frames.ts";
import type { Happening } from "../pack/header.ts";
import { button, digits, make } from "./dom.ts";

const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];

export class Transport {
  readonly element: HTMLElement;
  private readonly clock: Clock;
  private readonly frames: Frames;
  private readonly slider: HTMLInputElement;
  private readonly output = make("output", { class: "time" });
  private readonly play: HTMLButtonElement;

  constructor(clock: Clock, frames: Frames, events: Happening[]) {
    [this.clock, this.frames] = [clock, frames];
    this.slider = make("input", { type: "range", min: "0", max: "10000", step: "any", value: "0", "aria-label": "Time", class: "scrub" });
    this.slider.addEventListener("input", () => {
      clock.pause();
      clock.seek(clock.start + (Number(this.slider.value) / 10000) * (clock.end - clock.start));
    });
    this.play = button("▶", "Play or pause (space)", () => clock.toggle());
    this.play.classList.add("play");
    const speed = make("select", { "aria-label": "Speed" });
    const usual = clock.speed;
    const speeds = [...new Set([...SPEEDS, ...SPEEDS.map((x) => x * usual)].map((x) => Number(x.toPrecision(3))))].sort((a, b) => a - b);
    for (const x of speeds) speed.append(make("option", { value: String(x) }, `${digits(x, 3)}×`));
    const showSpeed = () => {
      const nearest = speeds.reduce((best, x) => (Math.abs(Math.log(x / clock.speed)) < Math.abs(Math.log(best / clock.speed)) ? x : best));
      speed.value = String(nearest);
    };
    speed.addEventListener("change", () => (clock.speed = Number(speed.value)));
    clock.onMode(() => {
      showSpeed();
      this.play.textContent = clock.isPlaying ? "❚❚" : "▶";
      this.play.setAttribute("aria-pressed", String(clock.isPlaying));
    });
    showSpeed();
    const marks = make("div", { class: "marks", "aria-hidden": "true" });
    const span = clock.end - clock.start || 1;
    for (const event of events.slice(0, 150)) {
      marks.append(make("i", { style: `left:${((event.time - clock.start) / span) * 100}%`, title: `${event.name} at t = ${digits(event.time, 6)}` }));
    }
    this.element = make(
      "div",
      { class: "transport", role: "group", "aria-label": "Playback" },
      button("|◀", "To the start (Home)", () => clock.seek(clock.start)),
      button("◀", "One recorded instant back (←)", () => this.step(-1)),
      this.play,
      button("▶|", "One recorded instant on (→)", () => this.step(1)),
      make("div", { class: "track" }, this.slider, marks),
      this.output,
      speed,
    );
    this.tick();
  }

  /** To a recorded instant before or after. */
  step(by: number): void {
    this.clock.pause();
    const { times, count } = this.frames;
    const now = findBefore(times, this.clock.time);
    const isBetween = this.clock.time > times[now];
    const to = by < 0 && isBetween ? now + by + 1 : now + by;
    this.clock.seek(times[Math.min(count - 1, Math.max(0, to))]);
  }

  tick(): void {
    const { start, end, time } = this.clock;
    this.slider.value = String(end > start ? ((time - start) / (end - start)) * 10000 : 0);
    this.slider.setAttribute("aria-valuetext", `t = ${digits(time)}`);
    this.output.textContent = `t = ${time.toFixed(Math.max(0, Math.min(9, 3 - Math.floor(Math.log10((end - start) / 10 || 1)))))}`;
  }
}
