// A dead letter with another payload, queue or type. The original is kept.
import { useState } from "preact/hooks";
import { postJson, problemFrom, type Problem } from "../api/client";
import type { WholeTask } from "../api/task";
import { goTo } from "../state/location";
import { mistake, pretty } from "../text/json";
import { taskHref } from "../text/route";
import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";
import { Segments } from "../ui/segments";
import { ProblemBox } from "../ui/states";
import { tell } from "../ui/toast";

export function EditTask({ task, onClose }: { task: WholeTask; onClose: () => void }) {
  const original = task.payloadContent;
  const originalText = original?.form === "json" ? pretty(original.text) : (original?.text ?? "");
  const [form, setForm] = useState<"json" | "text">(original?.form === "text" ? "text" : "json");
  const [text, setText] = useState(original?.form === "binary" ? "" : originalText);
  const [queue, setQueue] = useState(task.queue);
  const [type, setType] = useState(task.type);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const wrong = form === "json" ? mistake(text) : undefined;

  const send = async () => {
    setBusy(true);
    setProblem(undefined);
    const fields = { ...(queue !== task.queue && { queue }), ...(type !== task.type && { type }) };
    // The payload goes out as it is written here, not as a double would have it.
    const rest = Object.entries(fields).map(
      ([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`,
    );
    const payload = form === "json" ? `"payload":${text}` : `"payload_text":${JSON.stringify(text)}`;
    try {
      const answer = await postJson<{ id: string }>(
        `/v1/tasks/${encodeURIComponent(task.id)}/edit`,
        `{${payload}${rest.join("")}}`,
      );
      onClose();
      tell("Handed in again with the new payload");
      goTo(taskHref(answer.id));
    } catch (error) {
      setProblem(problemFrom(error));
      setBusy(false);
    }
  };

  return (
    <Dialog title="Edit & replay" onClose={onClose} wide>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!wrong) void send();
        }}
      >
        <p class="faint">
          A copy is handed in as a new task; the original is kept, as canceled, and each names the other.
        </p>
        <div class="form-row">
          <Text label="Type" value={type} onInput={setType} />
          <Text label="Queue" value={queue} onInput={setQueue} />
          <div class="field">
            <span class="field-label">Payload is</span>
            <Segments
              label="Payload is"
              value={form}
              options={{ json: "JSON", text: "text" }}
              onChange={setForm}
            />
          </div>
        </div>
        <div class="beside">
          <label class="field">
            <span class="field-label">New payload</span>
            <textarea
              class="input area"
              data-autofocus
              spellcheck={false}
              value={text}
              aria-invalid={wrong !== undefined}
              aria-describedby="payload-problem"
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </label>
          <label class="field">
            <span class="field-label">
              {original?.form === "binary" ? "Original (bytes, in base64)" : "Original"}
            </span>
            <textarea class="input area" readOnly value={originalText} />
          </label>
        </div>
        <p id="payload-problem" class={wrong ? "field-error" : "field-good"} role="status">
          {wrong ?? (form === "json" ? "Valid JSON" : "Any text will do")}
        </p>
        {problem && <ProblemBox problem={problem} />}
        <div class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            kind="primary"
            icon="retry"
            busy={busy}
            disabled={wrong !== undefined || !type || !queue}
          >
            Replay with this
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Text({ label, value, onInput }: { label: string; value: string; onInput: (value: string) => void }) {
  return (
    <label class="field">
      <span class="field-label">{label}</span>
      <input class="input" required value={value} onInput={(event) => onInput(event.currentTarget.value)} />
    </label>
  );
}
