// T5, N1, N3, N10: an operator at work, from the group to the empty set.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { closePage, go, openPage, picture, startBrowser } from "./browser.mjs";
import { Server } from "./server.mjs";
import { mend, payments, refused, shop } from "./shop.mjs";

let browser;
let server;
before(async () => {
  browser = await startBrowser();
  server = await Server.start(shop, { alice: "operate" });
});
after(async () => {
  await browser?.close();
  await server?.end();
});

const state = (page, name) => page.locator("h1 .badge", { hasText: name }).waitFor();

async function logIn(page) {
  await page.getByLabel("Token").fill(server.secret("alice"));
  await page.getByRole("button", { name: "Log in" }).click();
}

/** From the group to a replay that runs: the plan, and the question that names how many. */
async function planAndStart(page, count) {
  await page.getByRole("button", { name: "Plan a replay" }).click();
  await state(page, "planned");
  assert.equal(
    await page.locator(".figure", { hasText: "would be brought back" }).locator("dd").innerText(),
    String(count),
  );
  await picture(page, "plan");
  await page.getByRole("button", { name: new RegExp(`^Replay ${count} task`) }).click();
  const question = page.getByRole("dialog");
  await question.getByText(new RegExp(`Bring back ${count} task`)).waitFor();
  await picture(page, "plan-question");
  await question.getByRole("button", { name: `Bring back ${count}` }).click();
}

test("a group is found, a canary stops, the handler is mended, the group is empty, the audit shows it", async () => {
  await server.submit(payments(30));
  await server.untilTasks({ dead: 30 });
  const page = await openPage(browser, server);
  await page.goto("/");
  await logIn(page);

  await page
    .getByRole("link", { name: /Dead letters/ })
    .first()
    .click();
  await page.locator(".group", { hasText: refused }).getByRole("link").click();
  await page.getByRole("heading", { name: /30 tasks/ }).waitFor();

  await page.locator(".inspect-row").first().click(); // one of them, in its place
  await page.getByText("ann@example.org").waitFor();
  await page.getByText("All its attempts were used up.").waitFor();
  await picture(page, "inspected", { fullPage: true });
  const group = new URL(page.url()).hash;

  await planAndStart(page, 30);
  await state(page, "stopped");
  await page.getByText("Stopped, and nothing more is brought back").waitFor();
  const stopped = await server.until("/v1/operations", ({ operations }) => operations[0].state === "stopped");
  assert.equal(stopped.operations[0].progress.done, 1, "the canary's first stage is one task");
  await picture(page, "stopped");

  mend(server);
  await page.getByRole("button", { name: "Resume" }).click();
  await state(page, "done");
  await picture(page, "done");

  // The one that the canary gave up is a dead letter again, and comes back by a replay of its own.
  await go(page, group);
  const left = page.getByRole("heading", { name: /1 task/ });
  const empty = page.getByText("Nothing is left in it");
  await left.or(empty).first().waitFor();
  if (await left.isVisible()) {
    await planAndStart(page, 1);
    await state(page, "done");
    await go(page, group);
  }
  await empty.waitFor();
  await server.untilTasks({ dead: 0, succeeded: 30 });
  await picture(page, "group-empty");

  await page.getByRole("link", { name: "Replays", exact: true }).click();
  await page.getByRole("link", { name: "Audit log" }).click();
  const entry = page.getByRole("row").filter({ hasText: "alice" }).filter({ hasText: "replay" });
  await entry.first().waitFor();
  await picture(page, "audit");
  await closePage(page);
});

test("a task is edited and comes back as another; the two name each other", async () => {
  const [id] = await server.submit([
    { type: "invoice.post", queue: "shop", payload: { number: 12345678901234567890n.toString() } },
  ]);
  await server.until(`/v1/tasks/${id}`, (task) => task.state === "failed");
  const page = await openPage(browser, server);
  await go(page, `#/tasks/${id}`);
  await logIn(page);
  await page.getByRole("button", { name: "Edit & replay" }).click();
  const payload = page.getByLabel("New payload");
  await payload.fill('{"number": 1,}');
  await page.getByText(/line 1, column 14/).waitFor();
  assert.ok(await page.getByRole("button", { name: "Replay with this" }).isDisabled());
  await payload.fill('{"number": 12345678901234567890123}');
  await page.getByLabel("Type").fill("mail.send");
  await page.getByRole("button", { name: "Replay with this" }).click();
  await page.getByText("Edited copy of").waitFor();
  await page.getByText("12345678901234567890123").waitFor();
  await page.locator("h1", { hasText: "mail.send" }).waitFor();
  await page.getByRole("link", { name: id }).click();
  await page.getByText("Edited, and handed in again as").waitFor();
  await closePage(page);
});

test("a task is discarded with a reason, which the audit log has", async () => {
  const [id] = await server.submit([{ type: "invoice.post", queue: "shop", payload_text: "4711\n" }]);
  await server.until(`/v1/tasks/${id}`, (task) => task.state === "failed");
  const page = await openPage(browser, server);
  await go(page, `#/tasks/${id}`);
  await logIn(page);
  await page.getByRole("button", { name: "Discard" }).click();
  const question = page.getByRole("dialog");
  assert.ok(await question.getByRole("button", { name: "Discard" }).isDisabled(), "not without a reason");
  await question.getByLabel("Reason").fill("the customer has left");
  await question.getByRole("button", { name: "Discard" }).click();
  await page.locator("h1 .badge", { hasText: "canceled" }).waitFor();
  await go(page, "#/audit");
  await page.getByText("the customer has left").waitFor();
  await closePage(page);
});

test("a queue is paused and resumed", async () => {
  const page = await openPage(browser, server);
  await go(page, "#/queues");
  await logIn(page);
  const row = page.getByRole("row").filter({ hasText: "shop" });
  await row.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Pause" }).click();
  await row.getByText("paused").waitFor();
  assert.equal(
    (await server.call("GET", "/v1/queues")).queues.find((queue) => queue.name === "shop").paused,
    true,
  );
  await row.getByRole("button", { name: "Resume" }).click();
  await row.getByRole("button", { name: "Pause" }).waitFor();
  await closePage(page);
});

test("what needs a person comes back for who insists", async () => {
  const [id] = await server.submit([{ type: "photo.convert", queue: "shop" }]);
  await server.until(`/v1/tasks/${id}`, (task) => task.state === "dead");
  const page = await openPage(browser, server);
  await go(page, `#/tasks/${id}`);
  await logIn(page);
  await page.getByText("It took its worker down too often.").waitFor();
  await page.getByRole("button", { name: "Retry" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Insist" }).click();
  await server.until(`/v1/tasks/${id}`, (task) => task.state === "dead" && task.replays === 1);
  await page.getByText("Brought back once").waitFor();
  await closePage(page);
});
