/** From values to places on the paper, and the values at which an axis has a mark. */

export interface Scale {
  low: number;
  high: number;
  isLog: boolean;
}

/** A scale that shows values with a little air around them. */
export function fit(low: number, high: number, isLog: boolean): Scale {
  if (isLog) {
    const from = Math.floor(Math.log10(Math.max(low, LEAST)));
    const to = Math.ceil(Math.log10(Math.max(high, LEAST)));
    return { low: from, high: to > from ? to : from + 1, isLog };
  }
  const air = 0.05 * (high - low) || 0.5 * Math.abs(high) || 1;
  return { low: low - air, high: high + air, isLog };
}

/** Residuals below this are rounding, and a logarithm has no zero. */
export const LEAST = 1e-18;

/** Where a value is between the ends of a scale: 0 to 1. */
export function place(scale: Scale, value: number): number {
  const x = scale.isLog ? Math.log10(Math.max(value, LEAST)) : value;
  return (x - scale.low) / (scale.high - scale.low);
}

/** Values for marks: round ones, about so many. */
export function ticks(scale: Scale, count: number): number[] {
  const span = scale.high - scale.low;
  if (!(span > 0) || !Number.isFinite(span)) return [];
  if (scale.isLog) {
    const stride = Math.max(1, Math.ceil(span / count));
    const marks: number[] = [];
    for (let e = scale.low; e <= scale.high; e += stride) marks.push(10 ** e);
    return marks;
  }
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const stride = power * ([1, 2, 5, 10].find((m) => m * power >= rough) ?? 10);
  const marks: number[] = [];
  for (let k = Math.ceil(scale.low / stride); k * stride <= scale.high + 1e-9 * stride; k++) marks.push(k * stride);
  return marks;
}

/** A mark in as few letters as tell it from its neighbours. */
export function tickText(value: number, stride: number, isLog: boolean): string {
  if (isLog) return `1e${Math.round(Math.log10(value))}`;
  if (value === 0) return "0";
  const size = Math.abs(value);
  const after = Math.max(0, -Math.floor(Math.log10(stride) + 1e-9));
  if (size >= 1e5 || after > 5) return value.toExponential(Math.max(0, Math.floor(Math.log10(size)) + after)).replace("e+", "e");
  return value.toFixed(Math.min(after, 6));
}
