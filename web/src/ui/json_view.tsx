import { useMemo, useState } from "preact/hooks";
import { laidOut } from "../text/json";
import { bytes } from "../text/numbers";
import { Button } from "./button";
import { Copy } from "./copy";

const mostShown = 20_000; // characters at first: a browser is slow with more

/** A text, laid out and coloured if it is JSON; with a button that copies it as it is. */
export function JsonView({ text, label }: { text: string; label: string }) {
  const [whole, setWhole] = useState(false);
  const long = text.length > mostShown;
  const pieces = useMemo(() => (long && !whole ? undefined : laidOut(text)), [text, whole]);
  const shown = long && !whole ? text.slice(0, mostShown) : text;
  return (
    <div class="code-box">
      <div class="code-copy">
        <Copy text={text} label={`Copy ${label}`} />
      </div>
      <pre class="code" tabIndex={0} aria-label={label}>
        {pieces
          ? pieces.map((piece, index) => (
              <span key={index} class={`json-${piece.kind}`}>
                {piece.text}
              </span>
            ))
          : shown}
      </pre>
      {long && !whole && (
        <div class="code-more">
          <Button small onClick={() => setWhole(true)}>
            Show all of {bytes(text.length)}
          </Button>
        </div>
      )}
    </div>
  );
}
