import assert from "node:assert/strict";
import { test } from "node:test";
import { both, quote, term, terms, valueOf, withTerm } from "./query";

test("terms are parted by spaces, but not within quotes", () => {
  const found = terms('state:dead  -queue:mail error:"connection \\" refused" attempts>=3 timeout');
  assert.deepEqual(
    found.map((one) => [one.text, one.name, one.negated]),
    [
      ["state:dead", "state", false],
      ["-queue:mail", "queue", true],
      ['error:"connection \\" refused"', "error", false],
      ["attempts>=3", "attempts", false],
      ["timeout", "", false],
    ],
  );
});

test("an open quote runs to the end, and a backslash there does no harm", () => {
  assert.deepEqual(
    terms('error:"half \\').map((one) => one.text),
    ['error:"half \\'],
  );
});

test("values are quoted where they must be", () => {
  assert.equal(quote("mail.send"), "mail.send");
  assert.equal(quote("out of attempts"), '"out of attempts"');
  assert.equal(quote('say "x", \\ y'), '"say \\"x\\", \\\\ y"');
  assert.equal(quote(""), '""');
  assert.equal(quote("-x"), '"-x"');
  assert.equal(term("queue", "two words"), 'queue:"two words"');
});

test("a term takes the place of the one of its name", () => {
  assert.equal(withTerm("state:dead queue:mail", "state", "failed"), "queue:mail state:failed");
  assert.equal(withTerm("state:dead queue:mail", "state", ""), "queue:mail");
  assert.equal(withTerm("", "state", "dead"), "state:dead");
  assert.equal(withTerm("-state:dead", "state", "failed"), "-state:dead state:failed");
});

test("what a name stands for", () => {
  assert.equal(valueOf("queue:mail state:dead,failed", "state"), "dead,failed");
  assert.equal(valueOf('queue:"two \\"words\\""', "queue"), 'two "words"');
  assert.equal(valueOf("queue:mail", "state"), "");
});

test("two queries that must both hold", () => {
  assert.equal(both("group:1", " "), "group:1");
  assert.equal(both("group:1", "attempts>2"), "group:1 attempts>2");
});
