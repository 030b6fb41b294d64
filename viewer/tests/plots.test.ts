/** Axes, lines and clocks. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Clock, usualSpeed } from "../src/clock.ts";
import { matcher } from "../src/plots/choose.ts";
import { pathOf, valueAt, wrap } from "../src/plots/path.ts";
import { fit, place, ticks, tickText } from "../src/plots/scale.ts";
import { Window } from "../src/plots/window.ts";
import { digits } from "../src/ui/dom.ts";

test("marks of an axis are round and within it", () => {
  for (const [low, high] of [[0, 1], [-3, 17], [1e-9, 2e-9], [99.5, 100.2], [-1e6, 3e7]]) {
    const scale = fit(low, high, false);
    const marks = ticks(scale, 5);
    assert.ok(marks.length >= 2 && marks.length <= 12, `${low} to ${high}: ${marks}`);
    assert.ok(marks.every((x) => x >= scale.low - 1e-9 * Math.abs(x) && x <= scale.high + 1e-9 * Math.abs(x)));
    const texts = marks.map((x) => tickText(x, marks[1] - marks[0], false));
    assert.equal(new Set(texts).size, texts.length, `marks can be told apart: ${texts}`);
  }
});

test("a logarithmic axis has decades, and a place for zero", () => {
  const scale = fit(3e-9, 2e-3, true);
  assert.deepEqual([scale.low, scale.high], [-9, -2]);
  assert.ok(place(scale, 0) < 0 && Number.isFinite(place(scale, 0)));
  assert.deepEqual(ticks(scale, 10).map((x) => tickText(x, 1, true)).slice(0, 2), ["1e-9", "1e-8"]);
});

test("lines with rates are cubics through the values, with these slopes", () => {
  // The cubic t³ is met exactly.
  const points = { times: [0, 2], values: [0, 8], rates: [0, 12] };
  for (const t of [0, 0.5, 1, 1.7, 2]) assert.ok(Math.abs(valueAt(points, t, 0) - t ** 3) < 1e-12);
  assert.match(pathOf(points, 0, 2, (t) => t, (v) => v, 100), /^M0.00 0.00C0.67 0.00 1.33 0.00 2.00 8.00$/);
});

test("gaps interrupt lines", () => {
  const points = { times: [0, 1, 2, 3], values: [0, Number.NaN, 2, 3] };
  assert.equal(pathOf(points, 0, 4, (t) => t, (v) => v, 100), "M0.00 0.00M2.00 2.00L3.00 3.00");
});

test("long lines keep their extremes", () => {
  const n = 100000;
  const times = Float64Array.from({ length: n }, (_, i) => i / n);
  const values = times.map((t, i) => (i === 54321 ? 77 : Math.sin(20 * t)));
  const path = pathOf({ times, values }, 0, n, (t) => 500 * t, (v) => v, 500);
  assert.ok(path.length < 60000 && path.includes(" 77.00"), String(path.length));
});

test("angles wrap", () => {
  assert.ok(Math.abs(wrap(7) - (7 - 2 * Math.PI)) < 1e-12);
  assert.ok(Math.abs(wrap(-4) - (2 * Math.PI - 4)) < 1e-12);
});

test("the clock stays within the run and ends", () => {
  const clock = new Clock(0, 10);
  const seen: number[] = [];
  clock.onTime((t) => seen.push(t));
  clock.seek(99);
  clock.seek(-3);
  assert.deepEqual(seen, [10, 0]);
  clock.play();
  clock.advance(4);
  assert.equal(clock.time, 4);
  clock.advance(40);
  assert.deepEqual([clock.time, clock.isPlaying], [10, false]);
  clock.play();
  assert.equal(clock.time, 0, "at the end it begins anew");
  assert.deepEqual([usualSpeed(10), usualSpeed(0.01), usualSpeed(2000)], [1, 0.001, 200]);
});

test("a window zooms around a time and stays within the run", () => {
  const window = new Window(0, 10);
  window.zoom(2, 0.5);
  assert.deepEqual([window.from, window.to], [1, 6]);
  window.zoom(2, 100);
  assert.deepEqual([window.from, window.to], [0, 10]);
});

test("names are found by parts and by patterns", () => {
  assert.ok(matcher("ARM")("left-arm.q0") && !matcher("arm*")("left-arm.q0") && matcher("*arm.q?")("left-arm.q0"));
  assert.ok(matcher("a(b")("xa(b") && !matcher("a.b*")("axb"), "dots and brackets are letters");
});

test("numbers are written as people do", () => {
  assert.deepEqual([0, 1.5, 1e-7, Number.NaN, 123456].map((x) => digits(x)), ["0", "1.5", "1.0000e-7", "–", "123460"]);
});
