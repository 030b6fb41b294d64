/** The certificate: how far the run may be trusted, and how it was made. */

import type { Header, Verdict } from "../pack/header.ts";
import { make } from "./dom.ts";

const WORDS: Record<Verdict, string> = { note: "", fine: "fine", look: "look closer", wrong: "wrong" };
/** Signs tell judgements apart where colours do not. */
const SIGNS: Record<Verdict, string> = { note: "·", fine: "✓", look: "!", wrong: "✗" };

export function badge(verdict: Verdict): HTMLElement {
  const text = verdict === "note" ? "no certificate" : WORDS[verdict];
  return make("span", { class: `badge ${verdict}` }, `${SIGNS[verdict]} ${text}`);
}

export function certificate(header: Header): HTMLElement {
  const { lines, settings } = header.certificate;
  const rows = lines.map(({ what, value, verdict, reason, rule }) =>
    make(
      "tr",
      { class: verdict },
      make("td", { class: "sign", "aria-label": WORDS[verdict] || "note" }, SIGNS[verdict]),
      make("th", { scope: "row" }, what),
      make("td", {}, ...(value ? [make("code", {}, value), " "] : []), reason, make("small", {}, rule ? `Rule of thumb: ${rule}.` : "")),
    ),
  );
  const made = settings.map(([what, value]) => make("tr", {}, make("th", { scope: "row" }, what), make("td", {}, make("code", {}, value))));
  const notes: string[] = [];
  const { count, recorded, resolution, unseen } = header.frames;
  if (count < recorded) notes.push(`The replay has ${count} of ${recorded} recorded instants.`);
  if (resolution > 0) notes.push(`Positions in the replay are rounded to ${resolution.toExponential(1)}; plots have seven digits.`);
  if (unseen > 0) notes.push(`${unseen} bodies cannot be drawn: neither they nor joints that lead to them were recorded.`);
  if (header.contacts && header.contacts.count < header.contacts.recorded) {
    notes.push(`The replay has the hardest ${header.contacts.count} of ${header.contacts.recorded} contacts.`);
  }
  if (header.is_thinned.some(Boolean)) notes.push("Long series are thinned to their extremes.");
  return make(
    "div",
    { class: "certificate" },
    make("h2", {}, "Certificate ", badge(header.verdict)),
    make("table", {}, ...rows),
    make("h2", {}, "How it was made"),
    make("table", {}, ...made),
    ...notes.map((note) => make("p", { class: "quiet" }, note)),
    make("h2", {}, "Scene"),
    make("pre", { tabindex: "0", "aria-label": "Text of the scene" }, header.scene_text),
  );
}
