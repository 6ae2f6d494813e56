// N2: what comes from outside stays text, on every page.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { closePage, go, openPage, picture, startBrowser } from "./browser.mjs";
import { Server } from "./server.mjs";

const type = "<script>alert('type')</script>";
const queue = "<img src=x onerror=alert('queue')>";
const error = "<svg onload=alert('error')></svg><script>alert('error')</script>";
const payload = {
  "<script>": "</script><script>alert('payload')</script>",
  quote: "\"'><img src=x onerror=alert(1)>",
};
const worker = "<script>alert('worker')</script>";
const reason = "<b onmouseover=alert('reason')>because</b>";

let browser;
let server;
before(async () => {
  browser = await startBrowser();
  server = await Server.start(`[queue.${JSON.stringify(queue)}]\npull = true\n`);
});
after(async () => {
  await browser?.close();
  await server?.end();
});

async function claimOne() {
  const { claims } = await server.call("POST", "/v1/claims", { queue, worker, max: 1, lease: "1h" });
  return claims[0];
}

/** Nothing but our own script is in the page, and no markup of theirs. */
async function isClean(page, what) {
  const found = await page.evaluate(() => ({
    scripts: document.querySelectorAll("script").length,
    others: document.querySelectorAll("#app img, #app b, [onload], [onerror], [onmouseover]").length,
  }));
  assert.deepEqual(found, { scripts: 1, others: 0 }, what);
}

test("a task made of markup is shown as it is written, and nothing in it runs", async () => {
  const task = { type, queue, payload };
  const [dead] = await server.submit([task]);
  const claim = await claimOne();
  const body = { token: claim.token, message: error, verdict: "give_up" };
  await server.call("POST", `/v1/claims/${claim.id}/fail`, body);
  await server.submit([task]);
  await claimOne(); // and one that runs
  const { group } = await server.until(`/v1/tasks/${dead}`, (one) => one.group !== undefined);

  const page = await openPage(browser, server);
  const seen = {
    "#/": queue,
    "#/queues": queue,
    "#/tasks": type,
    [`#/tasks/${dead}`]: error,
    "#/dead": error,
    [`#/dead/${group}`]: error,
    "#/workers": worker,
    [`#/tasks?q=${encodeURIComponent(type)}`]: type,
  };
  for (const [hash, text] of Object.entries(seen)) {
    await go(page, hash);
    await page.getByText(text).first().waitFor();
    await isClean(page, hash);
  }
  await go(page, `#/tasks/${dead}`);
  await page.getByText("alert('payload')").waitFor();
  await page.getByRole("button", { name: "Edit & replay" }).click();
  await page.getByLabel("New payload").waitFor();
  await isClean(page, "the editor");
  await page.keyboard.press("Escape");
  await picture(page, "hostile-task", { fullPage: true });

  await go(page, `#/dead/${group}`);
  await page.getByRole("button", { name: /Discard/ }).click();
  await page.getByLabel("Reason").fill(reason);
  await page.getByRole("button", { name: "Show the plan" }).click();
  await page.getByText(reason).waitFor();
  await isClean(page, "a plan");
  await page.getByRole("button", { name: "Discard 1 task" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Discard 1" }).click();
  await page.locator("h1 .badge", { hasText: "done" }).waitFor();
  await go(page, "#/audit");
  await page.getByText(reason).first().waitFor();
  await isClean(page, "the audit log");
  await closePage(page);
});

test("the page is under a policy that allows no script within it", async () => {
  const answer = await fetch(`${server.url}/`);
  const policy = answer.headers.get("Content-Security-Policy") ?? "";
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /script-src 'self'/);
  assert.doesNotMatch(policy, /unsafe/);
  assert.doesNotMatch(await answer.text(), /<script(?![^>]*src=)|<style|style=|\son\w+=/);
});
