/** Colours that people with any kind of colour vision can tell apart (Okabe and Ito, 2008), muted for large areas. */

export const LINES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#666666"];

export const BODIES = [0x7ea6cc, 0xe0a370, 0x74bfa4, 0xd3a0bf, 0xdcc06a, 0x93c6e6, 0xa99bcd, 0xb3aa9b];

export const GROUND = 0x9a9fa6;
export const SELECTED = 0xffd54a;

/** By mode of a contact: open, stick, slip. */
export const MODES = [0x888888, 0x0072b2, 0xd55e00];

export const JOINT = 0x44515e;
export const LOCKED = 0xa0409a;
export const BROKEN = 0xd5300a;
export const SPRING = 0x009e73;
export const TRAIL = 0xd55e00;
export const MISFIT = 0xd5300a;

export interface Theme {
  background: number;
  grid: number;
  gridMain: number;
  sky: number;
  joint: number;
}

export const THEMES: Record<"light" | "dark", Theme> = {
  light: { background: 0xf4f6f8, grid: 0xd3d9df, gridMain: 0xb4bdc6, sky: 0xffffff, joint: JOINT },
  dark: { background: 0x14181d, grid: 0x2a313a, gridMain: 0x3b4551, sky: 0xcfd8e3, joint: 0xc8d2dc },
};
