/** Checks types, compiles, and runs the tests of what needs no browser. */

import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const top = join(dirname(fileURLToPath(import.meta.url)), "..");
const run = (program, words) => {
  const { status } = spawnSync(program, words, { cwd: top, stdio: "inherit", shell: false });
  if (status !== 0) process.exit(status ?? 1);
};

rmSync(join(top, "build"), { recursive: true, force: true });
run(process.execPath, [join("node_modules", "typescript", "bin", "tsc"), "--outDir", "build"]);
const tests = readdirSync(join(top, "build", "tests")).filter((name) => name.endsWith(".test.js"));
run(process.execPath, ["--test", ...tests.map((name) => join("build", "tests", name))]);
