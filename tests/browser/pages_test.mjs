// Every page, in both themes, wide and narrow: drawn, within its window, and without a serious finding of axe.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  closePage,
  findings,
  go,
  narrow,
  openPage,
  overhang,
  picture,
  startBrowser,
  themes,
  wide,
} from "./browser.mjs";
import { Server } from "./server.mjs";
import { fill, shop } from "./shop.mjs";

let browser;
let server;
let pages;
before(async () => {
  browser = await startBrowser();
  server = await Server.start(shop);
  await fill(server);
  await server.call("POST", "/v1/claims", { queue: "texts", worker: "host-1", max: 2, lease: "1h" });
  const { groups } = await server.call("GET", "/v1/dead/groups");
  const [dead] = (await server.call("GET", "/v1/tasks?state=dead&limit=1")).tasks;
  const [succeeded] = (await server.call("GET", "/v1/tasks?state=succeeded&limit=1")).tasks;
  const query = `group:${groups[0].id}`;
  const planned = await server.call("POST", "/v1/operations", { action: "replay", query, canary: true });
  await server.until(`/v1/operations/${planned.id}`, (one) => one.state === "planned");
  const ended = await server.call("POST", "/v1/operations", {
    action: "discard",
    query: "type:photo.*",
    reason: "not worth it",
    start: true,
  });
  await server.until(`/v1/operations/${ended.id}`, (one) => one.state === "done");
  pages = {
    overview: "",
    queues: "#/queues",
    tasks: "#/tasks",
    "tasks-found": "#/tasks?q=state%3Adead",
    "tasks-none": "#/tasks?q=queue%3Anone",
    "tasks-wrong": "#/tasks?q=attempts%3Amany",
    "task-dead": `#/tasks/${dead.id}`,
    "task-succeeded": `#/tasks/${succeeded.id}`,
    "task-none": "#/tasks/01930000-0000-7000-8000-000000000001",
    dead: "#/dead",
    group: `#/dead/${groups[0].id}`,
    operations: "#/operations",
    "operation-planned": `#/operations/${planned.id}`,
    "operation-done": `#/operations/${ended.id}`,
    audit: "#/audit",
    workers: "#/workers",
    lost: "#/nothing",
  };
});
after(async () => {
  await browser?.close();
  await server?.end();
});

for (const theme of themes)
  for (const [name, size] of Object.entries({ wide, narrow }))
    test(`every page, ${theme}, ${name}`, async () => {
      const page = await openPage(browser, server, { theme, size });
      const wrong = [];
      for (const [title, hash] of Object.entries(pages)) {
        await go(page, hash);
        await page.locator(".bone").first().waitFor({ state: "detached" });
        await picture(page, `${title}-${name}-${theme}`, { fullPage: true });
        wrong.push(...(await findings(page)).map((one) => `${title}: ${one}`));
        const over = await overhang(page);
        if (over > 0) wrong.push(`${title}: ${over} pixels wider than its window`);
      }
      await closePage(page);
      assert.deepEqual(wrong, []);
    });

test("a query that is none is told with its place, not shown as an empty list", async () => {
  const page = await openPage(browser, server);
  await go(page, pages["tasks-wrong"]);
  await page.getByRole("alert").getByText("attempts").waitFor();
  await closePage(page);
});

test("keys lead everywhere", async () => {
  const page = await openPage(browser, server);
  await go(page, "");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  assert.deepEqual(await findings(page), []);
  await picture(page, "keys");
  await page.keyboard.press("Escape");
  for (const [key, heading] of Object.entries({
    q: "Queues",
    t: "Tasks",
    d: "Dead letters",
    r: "Replays",
    w: "Workers",
    o: "Overview",
  })) {
    await page.keyboard.press("g");
    await page.keyboard.press(key);
    await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
  }
  await page.keyboard.press("g");
  await page.keyboard.press("t");
  await page.getByRole("heading", { name: "Tasks", level: 1 }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("state:failed");
  await page.keyboard.press("Enter");
  await page.getByText("6 tasks match").waitFor();
  await go(page, "");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the content");
  await closePage(page);
});

test("the theme is chosen by a button, and kept", async () => {
  const page = await openPage(browser, server, { theme: "light" });
  await go(page, "");
  const shown = () => page.evaluate(() => document.documentElement.dataset.theme);
  assert.equal(await shown(), "light");
  const button = page.getByRole("button", { name: /Colours/ });
  await button.click(); // light
  await button.click(); // dark
  assert.equal(await shown(), "dark");
  await page.reload();
  await page.locator("h1").waitFor();
  assert.equal(await shown(), "dark");
  await closePage(page);
});
