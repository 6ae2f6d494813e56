// Bundles the dashboard, and writes it as a C++ source that has it in it, compressed.
// Usage: node web/build.mjs FOLDER [FILE.cpp]
// FOLDER gets what a browser loads: index.html, and files whose names carry a hash of what is in them.
// The same sources give the same bytes: nothing of the time, the machine or the path goes in.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const web = dirname(fileURLToPath(import.meta.url));
const [folder, source] = process.argv.slice(2);
if (!folder) fail("usage: node web/build.mjs FOLDER [FILE.cpp]");

function fail(message) {
  console.error(`web/build.mjs: ${message}`);
  process.exit(1);
}

const esbuild = await import("esbuild").catch(() =>
  fail("the npm packages of package.json are not there: scripts/install brings them"),
);

const types = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};
const suffix = (name) => name.slice(name.lastIndexOf("."));
const hash = (bytes) => createHash("sha256").update(bytes).digest("hex").slice(0, 12);

async function bundle() {
  const result = await esbuild
    .build({
      absWorkingDir: web,
      entryPoints: ["src/main.tsx"],
      outdir: "/",
      bundle: true,
      minify: true,
      format: "esm",
      target: ["chrome109", "firefox115", "safari16.4"],
      jsx: "automatic",
      jsxImportSource: "preact",
      legalComments: "none",
      charset: "utf8",
      write: false,
      logLevel: "silent",
    })
    .catch((error) => fail(error.message));
  return result.outputFiles.map((file) => ({ name: file.path.slice(1), bytes: Buffer.from(file.contents) }));
}

// {path, type, etag, bytes} of each file, the page itself first. `path` is what a browser asks for.
function named(files) {
  let page = readFileSync(join(web, "index.html"), "utf8").replace(/>\s+</g, "><");
  const assets = files.map(({ name, bytes }) => {
    const end = suffix(name);
    const path = `/assets/${name.slice(0, -end.length)}-${hash(bytes)}${end}`;
    if (!page.includes(`{${name}}`)) fail(`index.html does not name {${name}}`);
    page = page.replaceAll(`{${name}}`, path);
    return { path, type: types[end], etag: `"${hash(bytes)}"`, bytes };
  });
  const left = page.match(/\{[a-z.]+\}/);
  if (left) fail(`index.html names ${left[0]}, which there is not`);
  const bytes = Buffer.from(page);
  return [{ path: "/", type: types[".html"], etag: `"${hash(bytes)}"`, bytes }, ...assets];
}

// A text literal of any bytes. Octal escapes of three digits: what follows them cannot become part of them.
function literal(bytes) {
  const lines = [];
  for (let at = 0; at < bytes.length; at += 96) {
    let line = "";
    for (const byte of bytes.subarray(at, at + 96)) {
      const plain = byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c && byte !== 0x3f;
      line += plain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, "0")}`;
    }
    lines.push(`    "${line}"`);
  }
  return lines.join("\n");
}

function cpp(assets) {
  const entries = assets.map(({ path, type, etag, gzipped }) => {
    const text = [path, type, etag].map((one) => `    ${JSON.stringify(one)},\n`).join("");
    return `  {\n${text}    {\n${literal(gzipped)},\n    ${gzipped.length}}},\n`;
  });
  return `// Written by web/build.mjs.
#include "http/assets.hpp"

namespace holdfast::http {
namespace {

constexpr Asset kAssets[] = {
${entries.join("")}};

}  // namespace

std::span<const Asset> assets() noexcept { return kAssets; }

}  // namespace holdfast::http
`;
}

const icon = { name: "icon.svg", bytes: readFileSync(join(web, "icon.svg")) };
const assets = named([...(await bundle()), icon]).map((asset) => ({
  ...asset,
  gzipped: gzipSync(asset.bytes, { level: 9 }),
}));
rmSync(folder, { recursive: true, force: true });
mkdirSync(join(folder, "assets"), { recursive: true });
for (const { path, bytes } of assets) writeFileSync(join(folder, path === "/" ? "index.html" : path), bytes);
if (source) writeFileSync(source, cpp(assets));
const total = assets.reduce((sum, { gzipped }) => sum + gzipped.length, 0);
console.log(`the dashboard: ${assets.length} files, ${(total / 1000).toFixed(1)} kB compressed`);
