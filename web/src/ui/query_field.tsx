// The field for a query, and what can be said in it.
import { useEffect, useRef, useState } from "preact/hooks";
import { both } from "../text/query";
import { Button } from "./button";
import { Icon } from "./icon";

const grammar: [term: string, meaning: string][] = [
  ["state:dead,failed", "in one of these states"],
  ["queue:mail", "of this queue"],
  ["type:mail.*", "of this type; * stands for anything"],
  ["group:92ab5f0c11d3e844", "that failed alike"],
  ["reason:crashes", 'why it is dead: crashes, ambiguous, deadline, replays, "out of attempts" …'],
  ["attempts>=3", "also crashes, replays; with : = != > >= < <="],
  ["since:1h", "came to its state within the last hour; or a time"],
  ["until:2026-11-17T03:00:00Z", "came to its state before that"],
  ["created<2h", "handed in so long ago, or at a time"],
  ['error:"connection refused"', "in the last error"],
  ["payload.user.id:42", "a field of a JSON payload"],
  ["key:order-17", "with this key"],
  ["-queue:mail", "not so"],
  ["refused", "any word: in the error, the type or the id"],
];

export function QueryField({
  value,
  onChange,
  label = "Filter",
  placeholder,
}: {
  value: string;
  onChange: (query: string) => void;
  label?: string;
  placeholder?: string;
}) {
  const [text, setText] = useState(value);
  const [helps, setHelps] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => setText(value), [value]);
  return (
    <div class="query">
      <form
        class="query-form"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          onChange(text.trim());
        }}
      >
        <Icon name="search" />
        <input
          ref={input}
          class="query-input"
          data-query
          aria-label={label}
          placeholder={placeholder ?? 'state:dead queue:mail error:"refused"'}
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") event.currentTarget.blur();
          }}
        />
        {text !== "" && <Button kind="quiet" small icon="close" label="Clear" onClick={() => onChange("")} />}
        <kbd class="query-key" aria-hidden="true">
          /
        </kbd>
        <Button
          kind="quiet"
          small
          icon="help"
          label="What can be said here"
          onClick={() => setHelps(!helps)}
        />
      </form>
      {helps && (
        <div class="query-help card">
          <p class="faint">Terms stand side by side and must all hold. Choose one to add it.</p>
          <ul>
            {grammar.map(([term, meaning]) => (
              <li key={term}>
                <button
                  type="button"
                  class="chip chip-code"
                  onClick={() => {
                    setText(both(text, term));
                    input.current?.focus();
                  }}
                >
                  {term}
                </button>
                <span>{meaning}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}
