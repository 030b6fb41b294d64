/** The time that everything shows: replay, plots and values read it and are told when it changes. */

export class Clock {
  readonly start: number;
  readonly end: number;
  private now: number;
  private playing = false;
  private factor: number;
  private readonly listeners: ((time: number) => void)[] = [];
  private readonly modeListeners: (() => void)[] = [];

  constructor(start: number, end: number) {
    [this.start, this.end, this.now] = [start, end, start];
    this.factor = usualSpeed(end - start);
  }

  get time(): number {
    return this.now;
  }

  get isPlaying(): boolean {
    return this.playing;
  }

  /** Simulated time per second. */
  get speed(): number {
    return this.factor;
  }

  set speed(factor: number) {
    this.factor = Math.min(1e6, Math.max(1e-9, factor));
    this.modeListeners.forEach((tell) => tell());
  }

  seek(time: number): void {
    const clamped = Math.min(this.end, Math.max(this.start, time));
    if (clamped === this.now || Number.isNaN(clamped)) return;
    this.now = clamped;
    this.listeners.forEach((tell) => tell(clamped));
  }

  play(): void {
    if (this.playing || !(this.end > this.start)) return;
    if (this.now >= this.end) this.seek(this.start);
    this.playing = true;
    this.modeListeners.forEach((tell) => tell());
  }

  pause(): void {
    if (!this.playing) return;
    this.playing = false;
    this.modeListeners.forEach((tell) => tell());
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  /** Lets so many seconds of the reader's time pass. */
  advance(seconds: number): void {
    if (!this.playing) return;
    this.seek(this.now + seconds * this.factor);
    if (this.now >= this.end) this.pause();
  }

  onTime(tell: (time: number) => void): void {
    this.listeners.push(tell);
  }

  onMode(tell: () => void): void {
    this.modeListeners.push(tell);
  }
}

/** As it happened, where that is neither over at once nor without end; else so that it takes ten seconds. */
export function usualSpeed(duration: number): number {
  if (!(duration > 0)) return 1;
  if (duration >= 1 && duration <= 30) return 1;
  const power = 10 ** Math.floor(Math.log10(duration / 10));
  const share = duration / 10 / power;
  return power * (share >= 5 ? 5 : share >= 2 ? 2 : 1);
}
