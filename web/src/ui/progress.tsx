// Bars of several parts, each with its colour.
import type { Tone } from "./badge";

export interface Part {
  tone: Tone;
  value: number;
  label: string;
}

export function Bar({ parts, total, label }: { parts: Part[]; total: number; label: string }) {
  const sum = Math.max(
    total,
    parts.reduce((all, part) => all + part.value, 0),
    1,
  );
  return (
    <div class="bar" role="img" aria-label={label} title={label}>
      {parts
        .filter((part) => part.value > 0)
        .map((part) => (
          <span
            key={part.label}
            class={`bar-part tone-${part.tone}`}
            style={{ flexBasis: `${(part.value / sum) * 100}%` }}
          />
        ))}
    </div>
  );
}
