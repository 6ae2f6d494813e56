import assert from "node:assert/strict";
import { test } from "node:test";
import { brokerQueueHref, groupHref, hrefTo, parseRoute, tasksHref } from "./route";

test("every page has an address", () => {
  assert.equal(parseRoute("").page, "overview");
  assert.equal(parseRoute("#/").page, "overview");
  assert.equal(parseRoute("#/queues").page, "queues");
  assert.equal(parseRoute("#/dead/92ab5f0c11d3e844").page, "group");
  assert.equal(parseRoute("#/dead/92ab5f0c11d3e844").id, "92ab5f0c11d3e844");
  assert.equal(parseRoute("#/operations/01J").page, "operation");
  assert.equal(parseRoute("#/queues/x").page, "lost");
  assert.equal(parseRoute("#/dead/x/y").page, "lost");
  assert.equal(parseRoute("#/dead/%zz").id, "%zz");
});

test("a queue of a broker has an address, whatever they are called", () => {
  const route = parseRoute(brokerQueueHref("a/b", "x?y & z.dlq"));
  assert.deepEqual([route.page, route.id, route.query.get("queue")], ["broker_queue", "a/b", "x?y & z.dlq"]);
  assert.equal(parseRoute("#/brokers").page, "brokers");
  assert.equal(parseRoute("#/recoveries/01J").page, "recovery");
});

test("a query comes back as it went in", () => {
  const query = 'error:"a & b? #1" -queue:mail';
  assert.equal(parseRoute(tasksHref(query)).query.get("q"), query);
  assert.equal(hrefTo("tasks", { q: "" }), "#/tasks");
  assert.equal(parseRoute(groupHref("a/b")).id, "a/b");
});
