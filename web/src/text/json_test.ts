import assert from "node:assert/strict";
import { test } from "node:test";
import { member, mistake, pieces, pretty } from "./json";

test("numbers and keys stay as they were written", () => {
  const text = '{"value":123456789012345678901,"a":1.0,"b":[],"c":{},"d":[1,{"e":null}]}';
  assert.equal(
    pretty(text),
    `{
  "value": 123456789012345678901,
  "a": 1.0,
  "b": [],
  "c": {},
  "d": [
    1,
    {
      "e": null
    }
  ]
}`,
  );
});

test("what is no JSON stays as it is", () => {
  assert.equal(pretty("{oops"), "{oops");
  assert.equal(pieces("1 2"), undefined);
});

test("keys are told from texts", () => {
  const kinds = pieces('{"a" : "b:", "c": true}')?.map((piece) => `${piece.kind} ${piece.text}`);
  assert.deepEqual(kinds, [
    "mark {",
    'key "a"',
    "mark :",
    'string "b:"',
    "mark ,",
    'key "c"',
    "mark :",
    "word true",
    "mark }",
  ]);
});

test("a mistake is told with its line and column", () => {
  assert.equal(mistake('{"a": 1}'), undefined);
  assert.match(mistake('{\n  "a": 1,\n}') ?? "", /line 3, column 1/);
  assert.match(mistake(" ") ?? "", /Nothing is there/);
  assert.ok(mistake('{"a": '));
});

test("a member is found byte for byte, whatever stands before it", () => {
  const text = '{"id":"x\\"}","list":[{"payload":1}], "payload" : {"n": 1.50, "s":"}"} ,"z":2}';
  assert.equal(member(text, "payload"), '{"n": 1.50, "s":"}"}');
  assert.equal(member(text, "z"), "2");
  assert.equal(member(text, "list"), '[{"payload":1}]');
  assert.equal(member(text, "none"), undefined);
  assert.equal(member("[1]", "payload"), undefined);
  assert.equal(member('{"payload":-1e5}', "payload"), "-1e5");
  assert.equal(member("{}", "payload"), undefined);
});
