// Dead-letter queues of a real RabbitMQ: seen, planned, brought back, and by whom.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
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

const script = join(dirname(fileURLToPath(import.meta.url)), "../support/rabbitmq.py");
const authorization = `Basic ${Buffer.from("guest:guest").toString("base64")}`;

let rabbit;
let addresses;
let browser;
let server;

async function manage(method, path, body) {
  const answer = await fetch(`${addresses.management}/api/${path}`, {
    method,
    headers: { authorization, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
}

const publish = (queue, identity, type) =>
  manage("POST", "exchanges/%2f/amq.default/publish", {
    routing_key: queue,
    payload: "body",
    payload_encoding: "string",
    properties: { message_id: identity, delivery_mode: 2, expiration: "1", headers: { MessageType: type } },
  });

before(async () => {
  rabbit = spawn("python3", ["-B", script, "hold", "--management"], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await once(createInterface(rabbit.stdout), "line");
  addresses = JSON.parse(line);
  const durable = { durable: true, arguments: {} };
  await manage("PUT", "queues/%2f/app.dlq", durable);
  await manage("PUT", "queues/%2f/app.work", durable);
  // Nobody consumes from it, so that what is in it expires, and is dead-lettered.
  await manage("PUT", "queues/%2f/app.quick", {
    durable: true,
    arguments: { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "app.dlq" },
  });
  for (let number = 0; number < 5; number += 1) await publish("app.quick", `m${number}`, "Scan");
  browser = await startBrowser();
  server = await Server.start(
    `[broker.main]
url = "${addresses.url}"
management = "${addresses.management}"
[broker.away]
url = "amqp://127.0.0.1:1"
management = "http://127.0.0.1:1"
`,
    { alice: "operate", bob: "read" },
  );
  await server.until("/v1/brokers/main/queues", ({ queues }) => queues[0]?.ready === 5);
});
after(async () => {
  await browser?.close();
  await server?.end();
  rabbit?.stdin.end();
  if (rabbit) await once(rabbit, "exit");
});

async function open(who, hash, more) {
  const page = await openPage(browser, server, more);
  await go(page, hash);
  await page.getByLabel("Token").fill(server.secret(who));
  await page.getByRole("button", { name: "Log in" }).click();
  await page.locator(".bone").first().waitFor({ state: "detached" });
  return page;
}

async function fillForm(page) {
  await page.getByRole("link", { name: "app.dlq" }).click();
  await page.getByRole("button", { name: "One queue" }).click();
  await page.getByLabel("Queue", { exact: true }).fill("app.work");
  await page.getByLabel("Reason").fill("it works again");
}

test("who may only read sees the queues, and no button that changes anything", async () => {
  const page = await open("bob", "#/brokers");
  await page.getByRole("heading", { name: "Brokers", level: 1 }).waitFor();
  await page.getByText("Its queues cannot be listed").waitFor();
  await page.getByRole("link", { name: "app.dlq" }).click();
  await page.getByText("To recover it needs a token that may operate.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Plan" }).count(), 0);
  await closePage(page);
});

test("the first messages of a queue are shown, and labelled as a sample", async () => {
  const page = await open("alice", "#/brokers/main?queue=app.dlq");
  await page.getByRole("button", { name: "Look at the first 50 messages" }).click();
  await page.getByText("a sample: 5 of 5").waitFor();
  await page.getByRole("cell", { name: "app.quick" }).waitFor();
  await page.getByText("m0", { exact: true }).click();
  await page.getByText("body", { exact: true }).first().waitFor();
  await picture(page, "queue-sample", { fullPage: true });
  assert.deepEqual(await findings(page), []);
  await closePage(page);
});

test("a queue is planned, recovered and empty, and the audit says who did it", async () => {
  const page = await open("alice", "#/brokers");
  await fillForm(page);
  await picture(page, "broker-queue");
  await page.getByRole("button", { name: "Plan" }).click();
  const start = page.getByRole("button", { name: "Recover 5 messages" });
  await start.waitFor();
  await page.getByRole("cell", { name: "app.work" }).waitFor();
  await picture(page, "recovery-plan");
  assert.deepEqual(await findings(page), []);
  await start.click();
  const dialog = page.getByRole("dialog", { name: "Recover 5 messages?" });
  await dialog.getByRole("button", { name: "Recover", exact: true }).click();
  await page.getByRole("heading", { name: /^Recovery/, level: 1 }).waitFor();
  await page.getByText("done", { exact: true }).waitFor();
  await picture(page, "recovery-done");
  const { recoveries } = await server.call("GET", "/v1/recoveries");
  assert.deepEqual(
    recoveries.map(({ state, by, request, progress }) => [state, by, request.dry_run, progress.recovered]),
    [
      ["done", "alice", false, 5],
      ["done", "alice", true, 0],
    ],
  );
  await go(page, "#/audit");
  await page.getByText("“it works again”").first().waitFor();
  await page.getByRole("link", { name: "dead-letter queue app.dlq at main" }).first().click();
  await page.getByRole("heading", { name: /^Recovery/, level: 1 }).waitFor();
  await closePage(page);
});

test("a recovery can be canceled while it runs", async () => {
  for (let number = 0; number < 20; number += 1) await publish("app.quick", `n${number}`, "Scan");
  await server.until("/v1/brokers/main/queues", ({ queues }) => queues[0]?.ready === 20);
  const page = await open("alice", "#/brokers");
  const begun = await server.call("POST", "/v1/recoveries", {
    broker: "main",
    queue: "app.dlq",
    to: "app.work",
    rate: 1,
  });
  await go(page, `#/recoveries/${begun.id}`);
  await page.getByText("running", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("canceled by alice").waitFor();
  const canceled = await server.until(`/v1/recoveries/${begun.id}`, ({ state }) => state !== "running");
  assert.ok(canceled.progress.recovered < 20);
  await closePage(page);
});

test("each page is drawn within its window, without a serious finding", async () => {
  const { recoveries } = await server.call("GET", "/v1/recoveries");
  const pages = {
    brokers: "#/brokers",
    "broker-queue": "#/brokers/main?queue=app.dlq",
    "broker-queue-none": "#/brokers/main?queue=none",
    recovery: `#/recoveries/${recoveries[0].id}`,
    "recovery-plan": `#/recoveries/${recoveries.at(-1).id}`,
  };
  const wrong = [];
  for (const theme of themes)
    for (const [title, size] of Object.entries({ wide, narrow })) {
      const page = await open("alice", "#/brokers", { theme, size });
      for (const [name, hash] of Object.entries(pages)) {
        await go(page, hash);
        await page.locator(".bone").first().waitFor({ state: "detached" });
        await picture(page, `${name}-${title}-${theme}`, { fullPage: true });
        wrong.push(...(await findings(page)).map((one) => `${name} ${title} ${theme}: ${one}`));
        const over = await overhang(page);
        if (over > 0) wrong.push(`${name} ${title}: ${over} pixels wider than its window`);
      }
      await closePage(page);
    }
  assert.deepEqual(wrong, []);
});
