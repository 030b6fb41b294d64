/** The stretch of time that all panels show. */

export class Window {
  readonly start: number;
  readonly end: number;
  from: number;
  to: number;
  private readonly listeners: (() => void)[] = [];

  constructor(start: number, end: number) {
    [this.start, this.end] = [start, end > start ? end : start + 1];
    [this.from, this.to] = [this.start, this.end];
  }

  set(from: number, to: number): void {
    const least = (this.end - this.start) * 1e-7;
    if (!(to - from > least)) return;
    [this.from, this.to] = [Math.max(this.start, from), Math.min(this.end, to)];
    this.listeners.forEach((tell) => tell());
  }

  /** Makes the stretch so many times as long, around a time that stays where it is. */
  zoom(around: number, factor: number): void {
    const at = Math.min(this.to, Math.max(this.from, around));
    this.set(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }

  reset(): void {
    this.set(this.start, this.end);
  }

  onChange(tell: () => void): void {
    this.listeners.push(tell);
  }
}
