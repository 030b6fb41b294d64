/** Packs: what is whole is read, what is not is refused with a sentence. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { findBefore, Frames, undoDifferences } from "../src/pack/frames.ts";
import { fromBase64, Pack, PackError } from "../src/pack/read.ts";

/** A pack as the command writes it. */
function pack(sections: Record<string, Uint8Array>, header: object): Uint8Array {
  let offset = 0;
  const list: object[] = [];
  const parts: Uint8Array[] = [];
  for (const [name, raw] of Object.entries(sections)) {
    const packed = deflateRawSync(raw);
    list.push({ name, offset, packed: packed.length, length: raw.length });
    parts.push(packed);
    offset += packed.length;
  }
  const words = deflateRawSync(Buffer.from(JSON.stringify({ ...header, sections: list })));
  const start = Buffer.alloc(16);
  start.write("SIGNVIEW");
  start.writeUInt32LE(1, 8);
  start.writeUInt32LE(words.length, 12);
  return Buffer.concat([start, words, ...parts]);
}

/** Bytes of numbers in planes. */
function planes(bytes: Uint8Array, size: number): Uint8Array {
  const out = new Uint8Array(bytes.length);
  const count = bytes.length / size;
  for (let i = 0; i < count; i++) for (let k = 0; k < size; k++) out[k * count + i] = bytes[i * size + k];
  return out;
}

const doubles = (values: number[]) => planes(new Uint8Array(new Float64Array(values).buffer), 8);

/** One body at three instants: from x = 1 to 3, not there at the end; turned by a half about z. */
function oneBody(): Uint8Array {
  const count = 3;
  const x = [-32767, 32767, -32768];
  const rows = [x, [0, 0, 0], [0, 0, 0], [32767, 0, 0], [0, 0, 0], [0, 0, 0], [0, 32767, 32767]];
  const values = new Int16Array(7 * count);
  rows.forEach((row, k) => row.forEach((value, i) => (values[k * count + i] = i === 0 ? value : value - row[i - 1])));
  return pack(
    {
      "frames.times": doubles([0, 1, 2]),
      "frames.bounds": doubles([1, 3, 5, 5, 0, 0]),
      "frames.orders": new Uint8Array(7).fill(1),
      "frames.poses": planes(new Uint8Array(values.buffer), 2),
    },
    { cast: { bodies: [{ name: "a" }] } },
  );
}

test("numbers come back", async () => {
  const open = await Pack.open(oneBody());
  assert.deepEqual([...(await open.doubles("frames.times"))], [0, 1, 2]);
  const frames = await Frames.read(open);
  assert.equal(frames.coordinate(0, 0, 0), 1);
  assert.equal(frames.coordinate(0, 0, 1), 3);
  assert.ok(Number.isNaN(frames.coordinate(0, 0, 2)));
});

test("between frames bodies go straight, and turn with a length of one", async () => {
  const frames = await Frames.read(await Pack.open(oneBody()));
  const m = new Float32Array(16);
  frames.place(0.5, m);
  assert.deepEqual([m[12], m[13], m[14], m[15]], [2, 5, 0, 1]);
  // Halfway between no turn and a half turn about z: a quarter turn.
  assert.ok(Math.abs(m[1] - 1) < 1e-6 && Math.abs(m[0]) < 1e-6, String(m.slice(0, 4)));
  frames.place(2, m);
  assert.ok(m.every((x) => x === 0), "a body that is not there is not drawn");
});

test("differences are undone modulo 2^16", () => {
  const values = new Int16Array([30000, 10000, -5]);
  undoDifferences(values, 0, 3, 1);
  assert.deepEqual([...values], [30000, 40000 - 65536, 40000 - 65536 - 5]);
});

test("the place before a time", () => {
  assert.deepEqual([-1, 0, 0.5, 2, 9].map((t) => findBefore([0, 1, 2, 3], t)), [0, 0, 0, 2, 3]);
  assert.equal(findBefore([], 1), 0);
});

test("base64 is that of the standard", () => {
  assert.deepEqual([...fromBase64("Zm9vYmE=")], [...Buffer.from("fooba")]);
  const bytes = Uint8Array.from({ length: 1000 }, (_, i) => (i * 31) % 256);
  assert.deepEqual(fromBase64(Buffer.from(bytes).toString("base64")), bytes);
  assert.throws(() => fromBase64("Zm9v<script>"), PackError);
});

test("what is cut short or damaged is refused with a sentence", async () => {
  const whole = oneBody();
  const read = async (bytes: Uint8Array) => {
    const open = await Pack.open(bytes);
    await Frames.read(open);
  };
  for (let length = 0; length < whole.length; length += 7) {
    await assert.rejects(read(whole.subarray(0, length)), PackError, `${length} of ${whole.length} bytes`);
  }
  const other = whole.slice();
  other[0] ^= 1;
  await assert.rejects(read(other), /not those of a recording/);
  other[0] ^= 1;
  other[8] = 9;
  await assert.rejects(read(other), /layout 9/);
  // Whatever a byte becomes, there is an answer or a sentence, never another error.
  for (let at = 12; at < whole.length; at++) {
    const damaged = whole.slice();
    damaged[at] ^= 0x55;
    await read(damaged).catch((error: unknown) => assert.ok(error instanceof PackError, `byte ${at}: ${error}`));
  }
});
