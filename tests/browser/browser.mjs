// A real Chromium, and pages of it that note everything which must not happen.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { chromium } from "playwright-core";

const program = process.env.HOLDFAST_CHROMIUM ?? "/usr/bin/chromium";
const artefacts = process.env.HOLDFAST_ARTEFACTS;
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const wide = { width: 1280, height: 800 };
export const narrow = { width: 390, height: 844 };
export const themes = ["light", "dark"];

export async function startBrowser() {
  return chromium.launch({
    executablePath: program,
    args: ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
}

/** A page with a session of its own. `page.broken` has what went wrong in it. */
export async function openPage(browser, server, { theme = "light", size = wide } = {}) {
  const context = await browser.newContext({
    viewport: size,
    colorScheme: theme,
    deviceScaleFactor: 1,
    baseURL: server.url,
  });
  context.setDefaultTimeout(90_000); // on any machine
  const page = await context.newPage();
  page.broken = [];
  page.on("pageerror", (error) => page.broken.push(`error in a script: ${error.message}`));
  page.on("dialog", (dialog) => {
    page.broken.push(`a script of somebody else ran: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    // An answer that is an error, or none at all, is the page's business to show; the browser notes it as well.
    const network = /Failed to load resource|net::ERR_/.test(message.text());
    if (message.type() === "error" && !network) page.broken.push(`console: ${message.text()}`);
  });
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => {
      console.error(`policy violated: ${event.violatedDirective} by ${event.blockedURI}`);
    });
  });
  return page;
}

export async function go(page, hash) {
  await page.goto(`/${hash}`);
  await page.locator("h1").waitFor();
}

/** Closes it; fails if anything was noted. */
export async function closePage(page) {
  await page.context().close();
  assert.deepEqual(page.broken, []);
}

export async function picture(page, name, more = {}) {
  if (!artefacts) return;
  mkdirSync(artefacts, { recursive: true });
  await page.screenshot({ path: join(artefacts, `${name}.png`), ...more });
}

/** What axe finds, as far as it is serious. */
export async function findings(page) {
  await page.evaluate(`${axeSource};0`);
  return page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, { resultTypes: ["violations"] });
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(
        ({ id, impact, nodes }) =>
          `${impact} ${id}: ${nodes.map((node) => node.target.join(" ")).join(", ")}`,
      );
  });
}

/** By how many pixels the page is wider than its window. */
export async function overhang(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}
