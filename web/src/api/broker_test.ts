import assert from "node:assert/strict";
import { test } from "node:test";
import { depthOf, inEarnest, whereTo } from "./broker";

const queue = { name: "a.dlq", kind: "classic", approximate: true };

test("a queue of which nothing is known has no depth", () => {
  assert.equal(depthOf(queue), undefined);
  assert.equal(depthOf({ ...queue, ready: 7, unacknowledged: 2 }), 9);
});

test("a recovery says where its messages go", () => {
  const request = { broker: "b", queue: "a.dlq" };
  assert.equal(whereTo({ ...request, to: "work" }), "into queue work");
  assert.equal(whereTo({ ...request, to_origin: "queue" }), "into the queues where they first died");
  assert.equal(whereTo({ ...request, map: { a: "x", b: "y" } }), "by a map of 2 types");
  assert.equal(whereTo({ ...request, park: "review" }), "all of them, as they are, into review");
});

test("a plan is carried out as it was made", () => {
  const request = { broker: "b", queue: "a.dlq", to: "work", limit: 5, dry_run: true };
  assert.deepEqual(inEarnest(request), { ...request, dry_run: false });
});
