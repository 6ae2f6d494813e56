// N1: who may see, and who may do.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { closePage, findings, go, openPage, picture, startBrowser } from "./browser.mjs";
import { Server } from "./server.mjs";
import { payments, shop } from "./shop.mjs";

let browser;
let server;
let group;
before(async () => {
  browser = await startBrowser();
  server = await Server.start(shop, { alice: "operate", bob: "read", eve: "submit" });
  await server.submit(payments(2));
  await server.untilTasks({ dead: 2 });
  group = (await server.call("GET", "/v1/dead/groups")).groups[0].id;
});
after(async () => {
  await browser?.close();
  await server?.end();
});

async function logIn(page, secret) {
  await page.getByLabel("Token").fill(secret);
  await page.getByRole("button", { name: "Log in" }).click();
}

test("a token opens the page that was asked for, and stays where no script can read it", async () => {
  const page = await openPage(browser, server);
  await go(page, `#/dead/${group}`);
  await picture(page, "login");
  assert.deepEqual(await findings(page), []);
  await logIn(page, server.secret("alice"));
  await page.getByRole("heading", { name: /2 tasks/ }).waitFor();
  const [cookie] = await page.context().cookies();
  assert.equal(cookie.name, "holdfast_session");
  assert.equal(cookie.httpOnly, true);
  assert.equal(cookie.sameSite, "Strict");
  assert.equal(await page.evaluate(() => document.cookie), "");
  const kept = await page.evaluate(() => JSON.stringify(localStorage) + JSON.stringify(sessionStorage));
  assert.ok(!kept.includes(server.secret("alice")));
  await page.getByText("alice").waitFor();
  await closePage(page);
});

test("a wrong token is refused in words, and the right one may follow", async () => {
  const page = await openPage(browser, server);
  await go(page, "");
  await logIn(page, "no such token, but long enough");
  await page.getByText("The server does not know this token.").waitFor();
  assert.deepEqual(await page.context().cookies(), []);
  await logIn(page, server.secret("alice"));
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await closePage(page);
});

test("who may only read sees everything, and no button that changes anything", async () => {
  const page = await openPage(browser, server);
  await go(page, "");
  await logIn(page, server.secret("bob"));
  const [task] = (await server.call("GET", "/v1/tasks?limit=1")).tasks;
  const actions = /Pause|Resume|Discard|Retry|Edit|Cancel|Plan a replay|Limit/;
  for (const hash of [
    "#/queues",
    `#/dead/${group}`,
    `#/tasks/${task.id}`,
    "#/tasks?q=state%3Adead",
    "#/operations",
  ]) {
    await go(page, hash);
    await page.locator(".bone").first().waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Log out" }).waitFor();
    assert.equal(await page.getByRole("button", { name: actions }).count(), 0, hash);
  }
  await closePage(page);
});

test("a token that may not look is told so", async () => {
  const page = await openPage(browser, server);
  await go(page, "");
  await logIn(page, server.secret("eve"));
  await page.getByText("Your token may submit, not look").waitFor();
  await closePage(page);
});

test("logging out takes the data off the screen, and the cookie away", async () => {
  const page = await openPage(browser, server);
  await go(page, "#/queues");
  await logIn(page, server.secret("alice"));
  await page.getByRole("heading", { name: "Queues" }).waitFor();
  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByLabel("Token").waitFor();
  assert.deepEqual(await page.context().cookies(), []);
  assert.equal(await page.getByText("shop").count(), 0);
  await closePage(page);
});
