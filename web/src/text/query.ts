// The filter grammar, as far as the page takes queries apart and puts them together. What a query means, and
// whether it is one at all, only the server knows.

export interface Term {
  text: string; // as it is written
  name: string; // "" for a plain word
  negated: boolean;
}

/** The terms as they are written. An open quote runs to the end. */
export function terms(query: string): Term[] {
  const found: Term[] = [];
  let at = 0;
  while (at < query.length) {
    if (/\s/.test(query[at] ?? "")) {
      at += 1;
      continue;
    }
    const start = at;
    let quoted = false;
    while (at < query.length && (quoted || !/\s/.test(query[at] ?? ""))) {
      if (quoted && query[at] === "\\") at += 1;
      else if (query[at] === '"') quoted = !quoted;
      at += 1;
    }
    const text = query.slice(start, Math.min(at, query.length));
    const match = /^(-?)([A-Za-z_][\w.-]*)(?::|=|!=|>=|<=|>|<)/.exec(text);
    found.push({ text, name: match?.[2] ?? "", negated: text.startsWith("-") });
  }
  return found;
}

/** A value as it stands in a query: in quotes where it would not be one value otherwise. */
export function quote(value: string): string {
  if (value !== "" && /^[^\s",\\]+$/.test(value) && !value.startsWith("-")) return value;
  return `"${value.replace(/[\\"]/g, (one) => `\\${one}`)}"`;
}

export function term(name: string, value: string): string {
  return `${name}:${quote(value)}`;
}

/** The query with this value for that name, in the place of all others of it; without it if value is "". */
export function withTerm(query: string, name: string, value: string): string {
  const rest = terms(query).filter((one) => one.name !== name || one.negated);
  const texts = rest.map((one) => one.text);
  return (value === "" ? texts : [...texts, `${name}:${value}`]).join(" ");
}

/** What a name stands for in a query ("state" of "state:dead,failed" is "dead,failed"); "" if it is not in it. */
export function valueOf(query: string, name: string): string {
  const found = terms(query).find((one) => one.name === name && !one.negated);
  const value = found?.text.slice(name.length + 1) ?? "";
  return /^".*"$/.test(value) ? value.slice(1, -1).replace(/\\(.)/g, "$1") : value;
}

/** Both must hold. */
export function both(one: string, other: string): string {
  return [one.trim(), other.trim()].filter(Boolean).join(" ");
}
