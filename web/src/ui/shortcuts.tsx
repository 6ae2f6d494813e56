// Keys: / for the query, g and a letter for a page, ? for this list.
import { useEffect, useState } from "preact/hooks";
import { goTo } from "../state/location";
import { nextTheme } from "../state/theme";
import { hrefTo } from "../text/route";
import { Dialog } from "./dialog";

const places: Record<string, { path: string; title: string }> = {
  o: { path: "", title: "Overview" },
  q: { path: "queues", title: "Queues" },
  t: { path: "tasks", title: "Tasks" },
  d: { path: "dead", title: "Dead letters" },
  r: { path: "operations", title: "Replays" },
  a: { path: "audit", title: "Audit log" },
  b: { path: "brokers", title: "Brokers" },
  w: { path: "workers", title: "Workers" },
};
const patience = 1200; // between g and the letter

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]");
}

export function useShortcuts(): { help: boolean; close: () => void } {
  const [help, setHelp] = useState(false);
  useEffect(() => {
    let went = 0; // when g was pressed
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector("dialog[open]")) return;
      const place = places[event.key];
      if (Date.now() - went < patience && place) {
        goTo(hrefTo(place.path));
        went = 0;
      } else if (event.key === "g") went = Date.now();
      else if (event.key === "?") setHelp(true);
      else if (event.key === "c") nextTheme();
      else if (event.key === "/") focusQuery();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return { help, close: () => setHelp(false) };
}

/** On a page without one, that of the tasks. */
function focusQuery(): void {
  const here = document.querySelector<HTMLInputElement>("[data-query]");
  if (here) return here.focus();
  goTo(hrefTo("tasks"));
  setTimeout(() => document.querySelector<HTMLInputElement>("[data-query]")?.focus(), 100);
}

export function ShortcutHelp({ onClose }: { onClose: () => void }) {
  const keys: [string[], string][] = [
    [["/"], "Write a query"],
    ...Object.entries(places).map(([key, { title }]): [string[], string] => [["g", key], title]),
    [["c"], "Change the colours"],
    [["Esc"], "Leave a field or a dialog"],
    [["?"], "This list"],
  ];
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="keys">
        {keys.map(([combination, meaning]) => (
          <div key={meaning}>
            <dt>
              {combination.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
