import assert from "node:assert/strict";
import { test } from "node:test";
import { amount, bytes, compact, count, counted, percent, rate, roundUp } from "./numbers";

test("big numbers are grouped, and short where there is little room", () => {
  assert.equal(count(119762), "119,762");
  assert.equal(compact(9999), "9,999");
  assert.equal(compact(119762), "119.8K");
  assert.equal(compact(1_000_000), "1M");
  assert.equal(amount(16.234), "16.2");
  assert.equal(amount(125_000), "125K");
});

test("one is not many", () => {
  assert.equal(counted(1, "task"), "1 task");
  assert.equal(counted(0, "task"), "0 tasks");
  assert.equal(counted(2, "discarded entry", "discarded entries"), "2 discarded entries");
});

test("a rate is told in the unit that makes it readable", () => {
  assert.equal(rate(0), "0/s");
  assert.equal(rate(16.234), "16.2/s");
  assert.equal(rate(4213), "4,210/s");
  assert.equal(rate(125_000), "125K/s");
  assert.equal(rate(0.08), "4.8/min");
  assert.equal(rate(1 / 3600), "1/h");
});

test("a share that is not all or nothing is never told as that", () => {
  assert.equal(percent(0), "0%");
  assert.equal(percent(0.0001), "<0.1%");
  assert.equal(percent(0.034), "3.4%");
  assert.equal(percent(0.35), "35%");
  assert.equal(percent(0.9999), ">99%");
  assert.equal(percent(1), "100%");
});

test("sizes", () => {
  assert.equal(bytes(1), "1 byte");
  assert.equal(bytes(900), "900 bytes");
  assert.equal(bytes(2048), "2 KiB");
  assert.equal(bytes(5.5 * 1024 * 1024), "5.5 MiB");
});

test("an axis ends at a number that is easy to halve", () => {
  assert.equal(roundUp(0.07), 0.08);
  assert.equal(roundUp(1), 1);
  assert.equal(roundUp(23), 40);
  assert.equal(roundUp(61_000), 80_000);
  assert.equal(roundUp(99_000), 100_000);
});
