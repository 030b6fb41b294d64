/** Lines through values: thinned to dots where there are more than that, smooth where rates are known. */

export interface Points {
  times: ArrayLike<number>;
  values: ArrayLike<number>;
  /** Rates of change, where lines between the points are smooth. */
  rates?: ArrayLike<number>;
}

/** Angles between −π and π; where they jump, a gap. */
export function wrap(angle: number): number {
  return angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));
}

/**
 * The `d` of a path through the points between two places. `x` and `y` map to the paper; more than two points per dot are
 * replaced by the lowest and the highest of it.
 */
export function pathOf(points: Points, from: number, to: number, x: (t: number) => number, y: (v: number) => number, dots: number): string {
  const { times, values, rates } = points;
  const n = to - from;
  if (n > 4 * dots) return envelope(points, from, to, x, y);
  const parts: string[] = [];
  let isOpen = false;
  for (let i = from; i < to; i++) {
    if (!Number.isFinite(values[i])) {
      isOpen = false;
      continue;
    }
    const [px, py] = [x(times[i]), y(values[i])];
    if (!isOpen) {
      parts.push(`M${px.toFixed(2)} ${py.toFixed(2)}`);
      isOpen = true;
      continue;
    }
    const h = times[i] - times[i - 1];
    if (rates && h > 0 && Number.isFinite(rates[i]) && Number.isFinite(rates[i - 1])) {
      // A cubic with the right values and rates at both ends.
      const a = y(values[i - 1] + (rates[i - 1] * h) / 3);
      const b = y(values[i] - (rates[i] * h) / 3);
      const third = (x(times[i]) - x(times[i - 1])) / 3;
      parts.push(`C${(px - 2 * third).toFixed(2)} ${a.toFixed(2)} ${(px - third).toFixed(2)} ${b.toFixed(2)} ${px.toFixed(2)} ${py.toFixed(2)}`);
    } else {
      parts.push(`L${px.toFixed(2)} ${py.toFixed(2)}`);
    }
  }
  return parts.join("");
}

function envelope({ times, values }: Points, from: number, to: number, x: (t: number) => number, y: (v: number) => number): string {
  const parts: string[] = [];
  let [dot, low, high, first, last] = [Number.NaN, 0, 0, 0, 0];
  let isOpen = false;
  const flush = () => {
    if (Number.isNaN(dot)) return;
    const at = dot.toFixed(2);
    parts.push(`${isOpen ? "L" : "M"}${at} ${first.toFixed(2)}`);
    if (low !== high) parts.push(`L${at} ${low.toFixed(2)}L${at} ${high.toFixed(2)}L${at} ${last.toFixed(2)}`);
    isOpen = true;
    dot = Number.NaN;
  };
  for (let i = from; i < to; i++) {
    if (!Number.isFinite(values[i])) {
      flush();
      isOpen = false;
      continue;
    }
    const [at, py] = [Math.round(2 * x(times[i])) / 2, y(values[i])];
    if (at !== dot) {
      flush();
      [dot, low, high, first] = [at, py, py, py];
    }
    low = Math.min(low, py);
    high = Math.max(high, py);
    last = py;
  }
  flush();
  return parts.join("");
}

/** The value at a time, between points as the line goes. */
export function valueAt({ times, values, rates }: Points, time: number, place: number): number {
  const [i, j] = [place, Math.min(place + 1, values.length - 1)];
  const [a, b] = [values[i], values[j]];
  const h = times[j] - times[i];
  if (!(h > 0) || !Number.isFinite(b)) return a;
  const s = Math.min(1, Math.max(0, (time - times[i]) / h));
  if (!rates || !Number.isFinite(rates[i]) || !Number.isFinite(rates[j])) return a + s * (b - a);
  const [p, q] = [1 - s, s];
  return a * p * p * (1 + 2 * s) + b * q * q * (3 - 2 * s) + h * p * q * (p * rates[i] - q * rates[j]);
}
