/** Reads a pack: a header in words, and sections that are unpacked when they are asked for. */

import type { Header, Section } from "./header.ts";

/** What is wrong with the numbers of a page, in words for its reader. */
export class PackError extends Error {}

const MAGIC = "SIGNVIEW";
const LAYOUT = 1;
const START = 16;
/** No section is longer: a damaged length must not ask for memory that is not there. */
const MAX_LENGTH = 1 << 30;

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Bytes from base64. */
export function fromBase64(text: string): Uint8Array {
  const table = new Int16Array(128).fill(-1);
  for (let i = 0; i < 64; i++) table[LETTERS.charCodeAt(i)] = i;
  let end = text.length;
  while (end > 0 && (text[end - 1] === "=" || text[end - 1] === "\n")) end--;
  const bytes = new Uint8Array((end * 3) >> 2);
  let [bits, count, at] = [0, 0, 0];
  for (let i = 0; i < end; i++) {
    const code = text.charCodeAt(i);
    const value = code < 128 ? table[code] : -1;
    if (value < 0) throw new PackError(`The numbers of this page are damaged at letter ${i} of ${end}.`);
    bits = ((bits << 6) | value) & 0xffffff;
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes[at++] = (bits >> count) & 255;
    }
  }
  return bytes;
}

async function inflate(bytes: Uint8Array, length: number | null, what: string): Promise<Uint8Array> {
  if (typeof DecompressionStream === "undefined") {
    throw new PackError("This browser cannot unpack the page (DecompressionStream is missing): a browser of 2023 or later can.");
  }
  try {
    const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const raw = new Uint8Array(await new Response(stream).arrayBuffer());
    if (length !== null && raw.length !== length) {
      throw new PackError(`The page is damaged: ${what} has ${raw.length} bytes, not ${length}.`);
    }
    return raw;
  } catch (error) {
    if (error instanceof PackError) throw error;
    throw new PackError(`The page is damaged or was cut short: ${what} cannot be unpacked.`);
  }
}

/** Four-byte or eight-byte numbers whose bytes lie in planes. */
function fromPlanes(raw: Uint8Array, size: number): ArrayBuffer {
  const count = raw.length / size;
  const bytes = new Uint8Array(raw.length);
  for (let k = 0; k < size; k++) {
    const plane = k * count;
    for (let i = 0, at = k; i < count; i++, at += size) bytes[at] = raw[plane + i];
  }
  return bytes.buffer;
}

/** A pack that is open. */
export class Pack {
  readonly header: Header;
  private readonly body: Uint8Array;
  private readonly sections: Map<string, Section>;

  private constructor(header: Header, body: Uint8Array) {
    this.header = header;
    this.body = body;
    this.sections = new Map(header.sections.map((section) => [section.name, section]));
  }

  /** Opens a pack. */
  static async open(bytes: Uint8Array): Promise<Pack> {
    if (bytes.length < START) throw new PackError("There are no numbers in this page: it was cut short.");
    const magic = String.fromCharCode(...bytes.subarray(0, 8));
    if (magic !== MAGIC) throw new PackError("The numbers of this page are not those of a recording.");
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const layout = view.getUint32(8, true);
    if (layout !== LAYOUT) {
      throw new PackError(`The page has numbers of layout ${layout}, its viewer reads ${LAYOUT}: make it again with \`signorini report\`.`);
    }
    const length = view.getUint32(12, true);
    if (START + length > bytes.length) throw new PackError("The page was cut short: its header is not whole.");
    const text = new TextDecoder().decode(await inflate(bytes.subarray(START, START + length), null, "the header"));
    let header: Header;
    try {
      header = JSON.parse(text) as Header;
    } catch {
      throw new PackError("The header of the page is damaged.");
    }
    const body = bytes.subarray(START + length);
    for (const { name, offset, packed, length } of header.sections) {
      if (!(offset >= 0 && packed >= 0 && length >= 0 && length <= MAX_LENGTH)) throw new PackError(`The page is damaged: ${name}.`);
      if (offset + packed > body.length) throw new PackError(`The page was cut short: ${name} is not whole.`);
    }
    return new Pack(header, body);
  }

  has(name: string): boolean {
    return this.sections.has(name);
  }

  /** The bytes of a section. */
  async bytes(name: string): Promise<Uint8Array> {
    const section = this.sections.get(name);
    if (!section) throw new PackError(`The page has no ${name}.`);
    return inflate(this.body.subarray(section.offset, section.offset + section.packed), section.length, name);
  }

  async doubles(name: string): Promise<Float64Array> {
    return new Float64Array(fromPlanes(await this.whole(name, 8), 8));
  }

  async singles(name: string): Promise<Float32Array> {
    return new Float32Array(fromPlanes(await this.whole(name, 4), 4));
  }

  async counts(name: string): Promise<Uint32Array> {
    return new Uint32Array(fromPlanes(await this.whole(name, 4), 4));
  }

  async shorts(name: string): Promise<Uint16Array> {
    return new Uint16Array(fromPlanes(await this.whole(name, 2), 2));
  }

  private async whole(name: string, size: number): Promise<Uint8Array> {
    const bytes = await this.bytes(name);
    if (bytes.length % size !== 0) throw new PackError(`The page is damaged: ${name} has ${bytes.length} bytes.`);
    return bytes;
  }
}
