// A question before something is changed: ask({…}) comes back with the answer, or null.
import { useState } from "preact/hooks";
import { Signal, useSignal } from "../state/signal";
import { Button } from "./button";
import { Dialog } from "./dialog";

export interface Question {
  title: string;
  text: string;
  action: string; // what the button says
  danger?: boolean;
  field?: { label: string; value?: string; required?: boolean; hint?: string; numeric?: boolean };
}

interface Asked {
  question: Question;
  answer: (value: string | null) => void;
}
const asked = new Signal<Asked | undefined>(undefined);

/** The text of the field ("" where there is none), or null: rather not. */
export function ask(question: Question): Promise<string | null> {
  return new Promise((resolve) => {
    asked.set({
      question,
      answer: (value) => {
        asked.set(undefined);
        resolve(value);
      },
    });
  });
}

export function AskHost() {
  const now = useSignal(asked);
  return now ? <AskDialog key={now.question.title} {...now} /> : null;
}

function AskDialog({ question, answer }: Asked) {
  const { field } = question;
  const [value, setValue] = useState(field?.value ?? "");
  const missing = field?.required === true && value.trim() === "";
  return (
    <Dialog title={question.title} onClose={() => answer(null)}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!missing) answer(value.trim());
        }}
      >
        <p>{question.text}</p>
        {field && (
          <label class="field">
            <span class="field-label">
              {field.label}
              {!field.required && <span class="faint"> (optional)</span>}
            </span>
            <input
              class="input"
              data-autofocus
              inputMode={field.numeric ? "numeric" : "text"}
              {...(field.numeric ? { pattern: "[0-9]*" } : {})}
              value={value}
              required={field.required ?? false}
              onInput={(event) => setValue(event.currentTarget.value)}
            />
            {field.hint && <span class="field-hint">{field.hint}</span>}
          </label>
        )}
        <div class="dialog-foot">
          <Button onClick={() => answer(null)}>Cancel</Button>
          <Button type="submit" kind={question.danger ? "danger" : "primary"} disabled={missing}>
            {question.action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
