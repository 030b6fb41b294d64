/** Values of series, unpacked when they are first shown. */

import type { Header, Quantity, Series } from "../pack/header.ts";
import type { Pack } from "../pack/read.ts";
import { type Points, wrap } from "./path.ts";

const NAMES: Record<Quantity, string> = {
  angle: "angle (rad)",
  length: "length",
  "angular-speed": "angular speed (rad per time)",
  speed: "speed (length per time)",
  quaternion: "component of a quaternion",
  force: "force",
  torque: "moment",
  "contact-force": "normal force",
  energy: "energy",
  relative: "relative, without unit",
  time: "time",
  count: "number",
  momentum: "momentum",
  "angular-momentum": "angular momentum",
};

/** What an axis says. Scenes are in consistent units, which only their author knows. */
export const axisName = (quantity: Quantity): string => NAMES[quantity];

export class Data {
  readonly header: Header;
  private readonly pack: Pack;
  private readonly known = new Map<string, Promise<Float32Array | Float64Array>>();

  constructor(pack: Pack) {
    [this.pack, this.header] = [pack, pack.header];
  }

  series(index: number): Series {
    return this.header.series[index];
  }

  async points(index: number, isWrapped = false): Promise<Points> {
    const series = this.series(index);
    const times = await this.load(`times.${series.base}`);
    const values = await this.load(`series.${index}`);
    if (isWrapped && series.quantity === "angle") return { times, values: cutAtJumps((values as Float32Array).map(wrap)) };
    const isSmooth = this.header.is_smooth && series.rate !== undefined;
    return isSmooth ? { times, values, rates: await this.load(`series.${series.rate}`) } : { times, values };
  }

  private load(name: string): Promise<Float32Array | Float64Array> {
    let found = this.known.get(name);
    if (!found) {
      found = name.startsWith("times") ? this.pack.doubles(name) : this.pack.singles(name);
      this.known.set(name, found);
    }
    return found;
  }
}

/** A wrapped angle leaves the paper on one side and comes back on the other: no line between the two. */
function cutAtJumps(values: Float32Array): Float32Array {
  for (let i = 1; i < values.length; i++) {
    if (Math.abs(values[i] - values[i - 1]) > Math.PI) values[i - 1] = Number.NaN;
  }
  return values;
}
