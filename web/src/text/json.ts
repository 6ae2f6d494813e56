// JSON as text. A payload is kept byte for byte, and so is what people see of it: numbers that a double cannot
// hold, and the order of keys, would not survive JSON.parse.

export interface Piece {
  kind: "key" | "string" | "number" | "word" | "mark";
  text: string;
}

const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[{}[\],:]/y;

/** The pieces of a JSON text without the space between them; nothing if it is no JSON. */
export function pieces(text: string): Piece[] | undefined {
  if (mistake(text)) return undefined;
  const found: Piece[] = [];
  let at = 0;
  for (;;) {
    while (/\s/.test(text[at] ?? "")) at += 1;
    if (at >= text.length) return found;
    token.lastIndex = at;
    const piece = token.exec(text)?.[0];
    if (piece === undefined) return undefined;
    at += piece.length;
    found.push({ kind: kindOf(piece, text, at), text: piece });
  }
}

function kindOf(piece: string, text: string, end: number): Piece["kind"] {
  const first = piece[0] ?? "";
  if (first === '"') return /^\s*:/.test(text.slice(end, end + 200)) ? "key" : "string";
  if (/[-\d]/.test(first)) return "number";
  return /[a-z]/.test(first) ? "word" : "mark";
}

/** The same, laid out: pieces that join to an indented text. */
export function laidOut(text: string): Piece[] | undefined {
  const all = pieces(text);
  if (!all) return undefined;
  const out: Piece[] = [];
  let depth = 0;
  const line = () => out.push({ kind: "mark", text: `\n${"  ".repeat(depth)}` });
  all.forEach((piece, index) => {
    const next = all[index + 1]?.text;
    if (piece.text === "{" || piece.text === "[") {
      out.push(piece);
      if (next !== "}" && next !== "]") {
        depth += 1;
        line();
      }
    } else if (piece.text === "}" || piece.text === "]") {
      const before = all[index - 1]?.text;
      if (before !== "{" && before !== "[") {
        depth -= 1;
        line();
      }
      out.push(piece);
    } else {
      out.push(piece.text === ":" ? { kind: "mark", text: ": " } : piece);
      if (piece.text === ",") line();
    }
  });
  return out;
}

/** Laid out as one text; what is no JSON stays as it is. */
export function pretty(text: string): string {
  return (
    laidOut(text)
      ?.map((piece) => piece.text)
      .join("") ?? text
  );
}

/** What is wrong with a JSON text, and where; nothing if it is one. */
export function mistake(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const position = /position (\d+)/.exec(message);
    const what = message.replace(/,? ?(?:\.\.\.)?".*" is not valid JSON$| in JSON at position.*$/s, "");
    if (text.trim() === "") return "Nothing is there yet: JSON is expected";
    if (!position) return what;
    const before = text.slice(0, Number(position[1])).split("\n");
    return `${what} (line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1})`;
  }
}

/** The text of a member of a JSON object, byte for byte: of "payload" in {"id":1,"payload":{"a":1.0}} it is {"a":1.0}. */
export function member(object: string, name: string): string | undefined {
  const skip = (from: number) => {
    while (/\s/.test(object[from] ?? "")) from += 1;
    return from;
  };
  let at = skip(0);
  if (object[at] !== "{") return undefined;
  at = skip(at + 1);
  while (object[at] === '"') {
    const keyEnd = valueEnd(object, at);
    const key: unknown = JSON.parse(object.slice(at, keyEnd));
    const start = skip(skip(keyEnd) + 1); // past the colon
    const end = valueEnd(object, start);
    if (key === name) return object.slice(start, end);
    at = skip(end);
    if (object[at] !== ",") return undefined;
    at = skip(at + 1);
  }
  return undefined;
}

// Where a value ends that begins at `at`, in a text that is known to be JSON.
function valueEnd(text: string, at: number): number {
  let depth = 0;
  for (;;) {
    const one = text[at];
    if (one === undefined) return at;
    if (one === '"') {
      at += 1;
      while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
      at += 1;
      if (depth === 0) return at;
      continue;
    }
    if (one === "{" || one === "[") depth += 1;
    else if (one === "}" || one === "]") {
      if (depth === 0) return at; // of what is around it
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && (one === "," || /\s/.test(one))) return at;
    at += 1;
  }
}
