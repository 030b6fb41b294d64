/** What is drawn: states of joints, frames, the view. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Joint, Vec3 } from "../src/pack/header.ts";
import { statesOf } from "../src/replay/joints.ts";
import { alongZ, between, compose, IDENTITY, multiply, transform } from "../src/replay/matrix.ts";

const near = (a: ArrayLike<number>, b: number[]) => b.every((x, i) => Math.abs(a[i] - x) < 1e-6);

test("joints lock, break and come back", () => {
  const joint = { name: "j", is_absent: false } as Joint;
  const event = (time: number, kind: string, target = "j") => ({ time, kind, name: kind, target: [target] });
  const { times, states } = statesOf(joint, [event(1, "lock"), event(1.5, "lock", "k"), event(2, "unlock"), event(3, "break"), event(4, "attach")]);
  assert.deepEqual(states, ["free", "locked", "free", "broken", "free"]);
  assert.deepEqual(times.slice(1), [1, 2, 3, 4]);
  assert.deepEqual(statesOf({ ...joint, is_absent: true }, [event(1, "lock"), event(2, "weld")]).states, ["absent", "locked"]);
});

test("a direction is where z goes", () => {
  for (const d of [[1, 0, 0], [0, -3, 0], [0, 0, 1], [0, 0, -2], [1, 2, 3]] as Vec3[]) {
    const m = compose([0, 0, 0], alongZ(d));
    const n = Math.hypot(...d);
    assert.ok(near(transform(m, 0, [0, 0, 1]), d.map((x) => x / n)), String(d));
  }
});

test("a piece reaches from one point to the other", () => {
  const [a, b]: Vec3[] = [[1, 2, 3], [-1, 0, 5]];
  const m = between(a, b, 0.1);
  assert.ok(near(transform(m, 0, [0, 0, -0.5]), a) && near(transform(m, 0, [0, 0, 0.5]), b));
});

test("products are those of matrices; a body that is not there hides what is on it", () => {
  const [m, out] = [compose([1, 2, 3], [0.5, 0.5, 0.5, 0.5]), new Float32Array(16)];
  multiply(m, 0, IDENTITY, out, 0);
  assert.ok(near(out, [...m]));
  multiply(m, 0, compose([1, 0, 0], [1, 0, 0, 0], [2, 2, 2]), out, 0);
  assert.ok(near(transform(out, 0, [0, 0, 1]), transform(m, 0, [1, 0, 2])));
  multiply(new Float32Array(16), 0, m, out, 0);
  assert.ok(out.every((x) => x === 0));
});
