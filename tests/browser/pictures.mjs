// The pictures of README.md: a shop at work for some minutes, in which a database goes away.
// Usage: by run.mjs --pictures
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { closePage, go, openPage, startBrowser } from "./browser.mjs";
import { Server } from "./server.mjs";
import { mend, payments, refused, shop } from "./shop.mjs";

const folder = join(dirname(fileURLToPath(import.meta.url)), "../../docs/pictures");
const seconds = Number(process.env.HOLDFAST_PICTURE_SECONDS ?? 300);
const flaky = `
[task."price.fetch"]
queue   = "prices"
command = ["sh", "-c", "[ $HOLDFAST_ATTEMPT -gt 1 ] && echo 42 && exit; echo 'HTTP 503 from https://prices.example.org' >&2; exit 75"]
retry   = { attempts = 5, first = "1s" }
`;

const many = (count, task) => Array.from({ length: count }, () => task);

/** What a second brings. Payments fail in the last third of the time. */
function tasksOf(second) {
  const wave = Math.round(14 + 5 * Math.sin(second / 25));
  return [
    ...many(wave, { type: "mail.send", queue: "shop", payload: { to: "ann@example.org" } }),
    ...many(second % 3 === 0 ? 2 : 1, { type: "price.fetch", queue: "prices" }),
    ...(second > seconds * 0.65 ? payments(5) : []),
    ...(second % 9 === 0
      ? [{ type: "invoice.post", queue: "shop", payload_text: `${4700 + second}\n` }]
      : []),
    ...(second % 20 === 0 ? [{ type: "report.render", queue: "shop" }] : []),
    ...(second % 60 === 30 ? [{ type: "photo.convert", queue: "shop" }] : []),
    ...(second % 15 === 0 ? [{ type: "text.count", queue: "texts", payload: { text: "to hold fast" } }] : []),
  ];
}

async function draw(page, name) {
  mkdirSync(folder, { recursive: true });
  await page.waitForTimeout(500); // bars that move come to rest
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

const browser = await startBrowser();
const server = await Server.start(shop + flaky);
try {
  for (let second = 0; second < seconds; second += 1) {
    const began = Date.now();
    await server.submit(tasksOf(second));
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, 1000 - (Date.now() - began))));
  }
  const page = await openPage(browser, server);
  await go(page, "");
  await page.locator(".u-over").first().waitFor();
  await draw(page, "overview");

  await server.submit(payments(400));
  await server.until("/v1/queues", ({ queues }) =>
    queues.every(({ tasks }) => tasks.running + tasks.retrying === 0),
  );
  await go(page, "#/dead");
  await page.locator(".group", { hasText: refused }).getByRole("link").click();
  await page.locator(".inspect-row").first().waitFor();
  await draw(page, "group");

  mend(server);
  await page.getByRole("button", { name: "Plan a replay" }).click();
  await page.locator("h1 .badge", { hasText: "planned" }).waitFor();
  await page.getByLabel("Rate").fill("40");
  await page.getByLabel("Reason").fill("the database is back");
  await page.getByRole("button", { name: /^Replay/ }).click();
  await page
    .getByRole("dialog")
    .getByRole("button", { name: /^Bring back/ })
    .click();
  await page.locator(".stage-now", { hasText: "the rest" }).waitFor();
  await page.waitForTimeout(5000); // some of the rest has come back by then
  await draw(page, "replay");
  await closePage(page);
} finally {
  await browser.close();
  await server.end();
}
