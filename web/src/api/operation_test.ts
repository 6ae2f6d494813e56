import assert from "node:assert/strict";
import { test } from "node:test";
import { groupOf, isOver, mayPause, mayResume, subject, timeLeft, type Operation } from "./operation";

const base: Operation = {
  id: "01J",
  action: "replay",
  state: "running",
  query: "group:92ab5f0c11d3e844 state:dead",
  by: "alice",
  created: "2026-11-17T00:00:00Z",
  changed: "2026-11-17T00:00:00Z",
  started: "2026-11-17T00:00:00Z",
  options: { canary: true, stop_at: 0.1, rate: null, cap: null, reset: true, insist: false },
  stage: { number: 3, size: null, done: 89, succeeded: 0, failed: 0, waiting: 0 },
  progress: { done: 100, refused: 0, succeeded: 0, failed: 0, total: 300 },
};
const without = (name: keyof Operation): Operation => {
  const { [name]: _, ...rest } = base;
  return rest as Operation;
};

test("what may be done depends on its state", () => {
  assert.ok(mayPause(base) && mayPause({ ...base, state: "waiting" }));
  assert.ok(mayResume({ ...base, state: "stopped" }) && mayResume({ ...base, state: "paused" }));
  assert.ok(!mayResume(base) && !mayPause({ ...base, state: "planned" }));
  assert.ok(isOver({ ...base, state: "failed" }) && !isOver({ ...base, state: "stopped" }));
});

test("it is told what it is about", () => {
  assert.equal(groupOf(base), "92ab5f0c11d3e844");
  assert.equal(groupOf({ ...base, query: "-group:92ab5f0c11d3e844" }), "");
  assert.equal(subject(base), base.query);
  assert.equal(subject({ ...without("query"), ids: ["a"] }), "task a");
  assert.equal(subject({ ...without("query"), ids: ["a", "b"] }), "2 tasks");
  assert.equal(subject(without("query")), "all dead letters");
});

test("how long it takes is told once that is more than a guess", () => {
  const now = Date.parse("2026-11-17T00:00:10Z");
  assert.equal(timeLeft(base, now), 20_000);
  assert.equal(timeLeft({ ...base, state: "paused" }, now), undefined);
  assert.equal(timeLeft({ ...base, progress: { ...base.progress, done: 5 } }, now), undefined);
  assert.equal(timeLeft({ ...base, stage: { ...base.stage!, number: 2 } }, now), undefined);
  assert.equal(timeLeft(without("started"), now), undefined);
});
