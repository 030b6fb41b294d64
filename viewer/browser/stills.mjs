/**
 * A still of every bundled scene, for the gallery of the book.
 *
 *     node browser/stills.mjs SIGNORINI FOLDER OF RUNS [SCENE ...]
 *
 * runs the scenes that the folder does not hold yet, opens their reports, and writes `book/img/stills/SCENE.jpg` and, with all
 * scenes, `book/gallery.md`; of `walker` the whole page as `book/img/report.jpg`.
 */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { launch } from "./chromium.mjs";

/** At which share of the run a scene is best seen; elsewhere at 0.4. */
const SHARES = { "bouncing-ball": 0.12, dominoes: 0.45, docking: 0.52, "breaking-chain": 0.35, "falling-pendulum": 0.3, "spheres-in-box": 0.15, "tippe-top": 0.5, "newtons-cradle": 0.22, walker: 0.3, "rocking-block": 0.1, "heavy-stack": 0.01, "box-stack": 0.01 };

const [, , command, runs, ...wanted] = process.argv;
if (!command || !runs) {
  console.error("usage: node browser/stills.mjs SIGNORINI FOLDER [SCENE ...]");
  process.exit(2);
}
const top = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const signorini = resolve(command);
const call = (...words) => {
  const { status, stdout, stderr } = spawnSync(signorini, words, { encoding: "utf8" });
  if (status !== 0) throw new Error(`signorini ${words.join(" ")}: ${stderr}`);
  return stdout;
};
const scenes = call("scenes").trim().split("\n").map((line) => [line.split(/\s+/)[0], line.replace(/^\S+\s+/, "")]);
const browser = await launch();
if (browser === null) {
  console.error("there is no Chromium");
  process.exit(1);
}
mkdirSync(join(top, "book/img/stills"), { recursive: true });
for (const [name] of scenes) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const folder = resolve(runs, name);
  if (!existsSync(join(folder, "summary.json"))) call("run", name, "--out", folder, "--quiet", "--no-plot");
  else call("report", folder);
  const page = await browser.newPage({ viewport: { width: 1000, height: 420 } });
  await page.goto(pathToFileURL(join(folder, "report.html")).href);
  await page.waitForFunction(() => window.signorini !== undefined);
  await page.evaluate((share) => {
    const { clock, stage } = window.signorini;
    window.signorini.setTheme("light");
    clock.seek(clock.start + share * (clock.end - clock.start));
    stage.render();
    for (const part of document.querySelectorAll(".layers, .note")) part.remove();
  }, SHARES[name] ?? 0.4);
  await page.waitForTimeout(300);
  await page.locator(".view").screenshot({ path: join(top, "book/img/stills", `${name}.jpg`), type: "jpeg", quality: 72 });
  // The whole page, for the README.
  if (name === "walker") {
    await page.setViewportSize({ width: 1200, height: 680 });
    await page.evaluate(() => window.signorini.stage.look());
    await page.waitForTimeout(300);
    await page.screenshot({ path: join(top, "book/img/report.jpg"), type: "jpeg", quality: 75 });
  }
  await page.close();
}
await browser.close();
if (wanted.length === 0) {
  const cell = ([name, title]) => `![${title}](img/stills/${name}.jpg)<br>\`signorini run ${name}\`<br>${title}`;
  const rows = [];
  for (let i = 0; i < scenes.length; i += 2) rows.push(`| ${cell(scenes[i])} | ${scenes[i + 1] ? cell(scenes[i + 1]) : ""} |`);
  const text = `# Gallery\n\nEvery bundled scene, as its own report shows it (${"`report.html`"}, written by the command below each picture). Blue arrows are forces of contacts that stick, orange ones of those that slip; bodies without shapes are drawn as\nthe box of their inertia, translucent, with rods to their joints.\n\n|  |  |\n|---|---|\n${rows.join("\n")}\n\nThe pictures are made by \`node browser/stills.mjs\` in \`viewer/\`.\n`;
  writeFileSync(join(top, "book/gallery.md"), text);
}
