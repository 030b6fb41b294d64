/** What is known of the body or joint that was chosen, at the time that is shown. */

import type { Clock } from "../clock.ts";
import { findBefore } from "../pack/frames.ts";
import type { Data } from "../plots/data.ts";
import { type Points, valueAt } from "../plots/path.ts";
import type { Stage } from "../replay/stage.ts";
import { button, digits, make } from "./dom.ts";

export class Selection {
  readonly element = make("section", { class: "selection", "aria-live": "polite" });
  private readonly stage: Stage;
  private readonly data: Data;
  private readonly clock: Clock;
  private values: { points: Points; output: HTMLOutputElement }[] = [];
  private readonly own: { tell: () => string; output: HTMLOutputElement }[] = [];

  constructor(stage: Stage, data: Data, clock: Clock) {
    [this.stage, this.data, this.clock] = [stage, data, clock];
    this.element.hidden = true;
    stage.onSelect(() => void this.show());
  }

  private async show(): Promise<void> {
    const picked = this.stage.selection;
    this.element.hidden = picked === null;
    [this.values, this.own.length] = [[], 0];
    if (!picked) return;
    const { cast, series } = this.stage.header;
    const rows: HTMLElement[] = [];
    const tell = (what: string, text: () => string) => {
      const output = make("output", {});
      this.own.push({ tell: text, output });
      rows.push(make("tr", {}, make("th", { scope: "row" }, what), make("td", {}, output)));
    };
    const name = (body: number | null) => (body === null ? "ground" : cast.bodies[body].name);
    const tools = make("p", { class: "tools" });
    let title: string;
    if (picked.kind === "body") {
      const { index } = picked;
      title = cast.bodies[index].name;
      tell("mass", () => digits(cast.bodies[index].mass, 7));
      tell("centre of mass", () => this.stage.centre(index).map((x) => digits(x)).join(", "));
      if (this.stage.has("contacts")) {
        tell("contacts", () => {
          const found = this.stage.contactsOf(index);
          return found ? `${found.count}, ${found.slipping} slipping, forces ${digits(found.force)} in sum` : "–";
        });
      }
      const follow = button("follow", "Keep this body in the middle (f)", () => this.stage.follow(this.stage.follows === index ? -1 : index));
      tools.append(follow, button("path", "Show or hide the path of its centre of mass (t)", () => this.stage.toggleTrail(index)));
    } else {
      const joint = cast.joints[picked.index];
      title = joint.name;
      tell("kind", () => `${joint.kind}, ${this.stage.jointState(picked.index)}`);
      tell("between", () => `${name(joint.parent)} and ${name(joint.child)}`);
      if (joint.motors.length) tell("driven by", () => joint.motors.join(", "));
    }
    tools.append(button("×", "Choose nothing (Escape)", () => this.stage.select(null)));
    const found = series.map((_, i) => i).filter((i) => series[i].owner === title && series[i].quantity !== "quaternion");
    const MOST = 24;
    for (const i of found.slice(0, MOST)) {
      const points = await this.data.points(i);
      const output = make("output", {});
      this.values.push({ points, output });
      rows.push(make("tr", {}, make("th", { scope: "row" }, series[i].name.slice(title.length + 1) || series[i].name), make("td", {}, output)));
    }
    this.element.replaceChildren(make("h2", {}, title), make("p", { class: "quiet" }, picked.kind), tools, make("table", {}, ...rows));
    this.tick();
  }

  tick(): void {
    if (this.element.hidden) return;
    for (const { tell, output } of this.own) output.textContent = tell();
    for (const { points, output } of this.values) {
      const time = this.clock.time;
      output.textContent = points.times.length ? digits(valueAt(points, time, findBefore(points.times, time)), 6) : "–";
    }
  }
}
