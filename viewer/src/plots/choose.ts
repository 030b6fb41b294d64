/** A dialogue in which series are chosen. */

import type { Header } from "../pack/header.ts";
import { make } from "../ui/dom.ts";

/** More names than this are narrowed down by typing. */
const MOST = 300;

/** Asks for series; those that share a panel share its axis. */
export function choose(header: Header, chosen: number[], done: (series: number[]) => void): void {
  const picked = new Set(chosen);
  const list = make("ul", { class: "series" });
  const search = make("input", { type: "search", placeholder: "part of a name, or * and ?", "aria-label": "Search series" });
  const note = make("p", { class: "quiet" });
  const fill = () => {
    const fits = matcher(search.value);
    const found = header.series.map((_, i) => i).filter((i) => fits(header.series[i].name));
    // What is chosen comes first.
    found.sort((a, b) => Number(picked.has(b)) - Number(picked.has(a)) || a - b);
    note.textContent = `${Math.min(found.length, MOST)} of ${header.series.length} series${header.left_out ? `; ${header.left_out} more are in trajectory.parquet only` : ""}`;
    list.replaceChildren(
      ...found.slice(0, MOST).map((i) => {
        const box = make("input", { type: "checkbox" });
        box.checked = picked.has(i);
        box.addEventListener("change", () => (box.checked ? picked.add(i) : picked.delete(i)));
        return make("li", {}, make("label", {}, box, header.series[i].name));
      }),
    );
  };
  const apply = make("button", { type: "submit" }, "Show");
  const form = make("form", { method: "dialog" }, make("h2", {}, "Series"), search, note, list, apply);
  const dialog = make("dialog", { "aria-label": "Choose series" }, form);
  search.addEventListener("input", fill);
  dialog.addEventListener("close", () => {
    if (dialog.returnValue === "show") done([...picked]);
    dialog.remove();
  });
  apply.value = "show";
  fill();
  document.body.append(dialog);
  dialog.showModal();
  search.focus();
}

/** Part of a name, or a pattern with * and ?. */
export function matcher(pattern: string): (name: string) => boolean {
  const text = pattern.trim().toLowerCase();
  if (!/[*?]/.test(text)) return (name) => name.toLowerCase().includes(text);
  const source = text.replace(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".");
  const expression = new RegExp(`^${source}$`);
  return (name) => expression.test(name.toLowerCase());
}
