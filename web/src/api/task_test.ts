import assert from "node:assert/strict";
import { test } from "node:test";
import { wholeTask } from "./task";

test("a payload keeps every digit", () => {
  const task = wholeTask('{"id":"1","payload":{"wei":1000000000000000000001,"a":1.0},"result_text":"42\\n"}');
  assert.deepEqual(task.payloadContent, { form: "json", text: '{"wei":1000000000000000000001,"a":1.0}' });
  assert.deepEqual(task.resultContent, { form: "text", text: "42\n" });
});

test("a payload may be missing, null, or bytes", () => {
  assert.equal(wholeTask('{"id":"1"}').payloadContent, undefined);
  assert.deepEqual(wholeTask('{"payload":null}').payloadContent, { form: "json", text: "null" });
  assert.deepEqual(wholeTask('{"payload_base64":"AA=="}').payloadContent, { form: "binary", text: "AA==" });
});
