import assert from "node:assert/strict";
import { test } from "node:test";
import { matches, type Wanted } from "./group";
import type { Group } from "./types";

const group: Group = {
  id: "92ab5f0c11d3e844",
  state: "dead",
  count: 3,
  first_seen: "2026-11-17T00:00:00Z",
  last_seen: "2026-11-17T01:00:00Z",
  example: "Connection refused",
  types: [{ name: "mail.send", count: 3 }],
  queues: [{ name: "shop", count: 3 }],
  came_by: { error: 2, timeout: 1, crash: 0 },
  last_hour: 0,
  last_day: 3,
  trend: [],
};
const any: Wanted = { text: "", state: "any", cause: "any" };

test("a group is found by its error, its types, its queues and its id", () => {
  for (const text of ["connection REFUSED", "mail.", "shop", "92ab", "  "])
    assert.ok(matches(group, { ...any, text }), text);
  assert.ok(!matches(group, { ...any, text: "timeout" }));
});

test("a group is found by its state and by how its tasks failed", () => {
  assert.ok(matches(group, { ...any, state: "dead", cause: "timeout" }));
  assert.ok(!matches(group, { ...any, state: "failed" }));
  assert.ok(!matches(group, { ...any, cause: "crash" }));
});
