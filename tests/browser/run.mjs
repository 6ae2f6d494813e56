// The dashboard in a real browser, at the built server.
// Usage: node tests/browser/run.mjs HOLDFAST [ARTEFACTS] [NAME…]
//   ARTEFACTS  a folder for pictures of what was seen
//   NAME       operator, hostile, login, connection, pages: only these
//   --pictures makes those of README.md anew, in docs/pictures; it takes some minutes, and is no test
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const makesPictures = process.argv.includes("--pictures");
const [holdfast, artefacts, ...names] = process.argv.slice(2).filter((one) => one !== "--pictures");
if (!holdfast) {
  console.error("usage: node tests/browser/run.mjs HOLDFAST [ARTEFACTS] [NAME…] [--pictures]");
  process.exit(2);
}
const env = {
  ...process.env,
  HOLDFAST_BINARY: resolve(holdfast),
  ...(artefacts ? { HOLDFAST_ARTEFACTS: resolve(artefacts) } : {}),
};

function run(...options) {
  return spawnSync(process.execPath, options, { cwd: here, env, stdio: "inherit" }).status === 0;
}

if (makesPictures) process.exit(run(join(here, "pictures.mjs")) ? 0 : 1);
const all = readdirSync(here).filter((file) => file.endsWith("_test.mjs"));
const wanted = names.length > 0 ? names.map((name) => `${name}_test.mjs`) : all;
// One after the other: a browser and a server are enough for a small machine.
const failed = wanted.filter((file) => !run("--test", join(here, file)));
if (failed.length > 0) {
  console.error(`failed: ${failed.join(", ")}`);
  process.exit(1);
}
