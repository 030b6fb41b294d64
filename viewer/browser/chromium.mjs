/** Finds Chromium, or installs it where Debian's packages are and one may; says so where there is none. */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/** Draws without a graphics card, the same everywhere. */
const FLAGS = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"];

function find() {
  const given = process.env["CHROMIUM"];
  if (given) return existsSync(given) ? given : null;
  for (const folder of (process.env["PATH"] ?? "").split(":")) {
    for (const name of NAMES) if (folder && existsSync(`${folder}/${name}`)) return `${folder}/${name}`;
  }
  return null;
}

function install() {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return;
  const apt = (...words) => spawnSync("apt-get", words, { stdio: "ignore", env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } }).status === 0;
  const packages = ["install", "-y", "--no-install-recommends", "chromium"];
  if (!apt(...packages) && apt("update")) apt(...packages);
}

/** A browser, or null where there is none. */
export async function launch() {
  if (find() === null) install();
  const executablePath = find();
  if (executablePath === null) return null;
  // Its own sandbox does not work for the superuser.
  const args = process.getuid?.() === 0 ? [...FLAGS, "--no-sandbox"] : FLAGS;
  return chromium.launch({ executablePath, args });
}
