import assert from "node:assert/strict";
import { test } from "node:test";
import { coarse, duration, exact, parse, relative } from "./times";

test("durations have two units at most", () => {
  assert.equal(duration(0.4), "0 ms");
  assert.equal(duration(340), "340 ms");
  assert.equal(duration(2_049), "2.0 s");
  assert.equal(duration(9_999), "9.9 s");
  assert.equal(duration(59_900), "59 s");
  assert.equal(duration(72_000), "1 min 12 s");
  assert.equal(duration(3_600_000), "1 h");
  assert.equal(duration(3_600_000 * 27), "1 d 3 h");
});

test("how long ago, and how long until", () => {
  assert.equal(relative(1_000_000, 1_000_900), "now");
  assert.equal(relative(1_000_000, 1_012_000), "12 s ago");
  assert.equal(relative(1_000_000 + 5 * 60_000, 1_000_000), "in 5 min");
  assert.equal(coarse(47 * 3_600_000), "47 h");
  assert.equal(coarse(49 * 3_600_000), "2 d");
});

test("the exact time says its zone", () => {
  const text = exact(parse("2026-11-17T23:18:31.151994Z"), "en-GB", "UTC");
  assert.match(text, /17 Nov 2026/);
  assert.match(text, /23:18:31\.151/);
  assert.match(text, /UTC/);
});
