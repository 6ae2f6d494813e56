// The unit tests of the dashboard: src/**/*_test.ts, bundled for node and run by its own test runner.
// Usage: node web/test.mjs
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const source = join(dirname(fileURLToPath(import.meta.url)), "src");
const tests = readdirSync(source, { recursive: true })
  .filter((file) => file.endsWith("_test.ts"))
  .map((file) => join(source, file));
const folder = mkdtempSync(join(tmpdir(), "holdfast-web-"));
try {
  await build({
    entryPoints: tests,
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
  });
  const built = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith(".mjs"));
  const run = spawnSync(process.execPath, ["--test", ...built], { cwd: folder, stdio: "inherit" });
  process.exitCode = run.status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
