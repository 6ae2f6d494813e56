import assert from "node:assert/strict";
import { test } from "node:test";
import { hrefOf } from "./audit_href";

test("an entry leads to what it is about", () => {
  assert.equal(hrefOf({ what: "group:92ab5f0c11d3e844 state:dead", operation: "01J" }), "#/operations/01J");
  assert.equal(hrefOf({ what: "dead-letter queue a.dlq at main", operation: "01J" }), "#/recoveries/01J");
  assert.equal(hrefOf({ what: "task 0193-1" }), "#/tasks/0193-1");
  assert.equal(hrefOf({ what: "queue mail" }), "#/queues");
  assert.equal(hrefOf({ what: "group:92ab5f0c11d3e844" }), "#/dead/92ab5f0c11d3e844");
  assert.equal(hrefOf({ what: "dead-letter queue mail.dlq at amqp://mq/%2f" }), undefined);
  assert.equal(hrefOf({ what: "type:mail.*" }), "#/tasks?q=type%3Amail.*");
});
