// A server that goes away and comes back: the page says so, keeps what it has, and goes on.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { closePage, findings, go, openPage, picture, startBrowser } from "./browser.mjs";
import { Server } from "./server.mjs";
import { fill, shop } from "./shop.mjs";

let browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser?.close());

test("the page survives the server's death, and is live again after it", async () => {
  const server = await Server.start(shop);
  try {
    await fill(server);
    const page = await openPage(browser, server);
    await go(page, "#/dead");
    await page.locator(".group").first().waitFor();
    await page.locator(".connection-live").waitFor();
    const groups = await page.locator(".group").count();

    await server.kill();
    await page.getByText("The server cannot be reached.").waitFor();
    assert.equal(await page.locator(".group").count(), groups, "what was there stays");
    assert.ok(await page.locator(":root[data-disconnected]").count(), "and is marked as old");
    assert.deepEqual(await findings(page), []);
    await picture(page, "disconnected");

    await server.begin();
    await page.getByText("The server cannot be reached.").waitFor({ state: "detached" });
    await page.locator(".connection-live").waitFor();
    await server.submit([{ type: "invoice.post", queue: "shop", payload_text: "4712\n" }]);
    await page.locator(".group", { hasText: "no such customer" }).getByText("7", { exact: true }).waitFor();
    await closePage(page);
  } finally {
    await server.end();
  }
});

test("a session that ended with the server leads to the login, and back to where one was", async () => {
  const server = await Server.start(shop, { alice: "operate" });
  try {
    const page = await openPage(browser, server);
    const logIn = async () => {
      await page.getByLabel("Token").fill(server.secret("alice"));
      await page.getByRole("button", { name: "Log in" }).click();
    };
    await go(page, "#/workers");
    await logIn();
    await page.getByRole("heading", { name: "Workers" }).waitFor();
    await server.kill();
    await server.begin();
    await page.getByText("The session has ended.").waitFor();
    await logIn();
    await page.getByRole("heading", { name: "Workers" }).waitFor();
    await closePage(page);
  } finally {
    await server.end();
  }
});
