// Which groups are shown. The server gives them in pages; to find one among all, all of them are read.
import { useEffect, useMemo, useState } from "preact/hooks";
import { get } from "../api/client";
import { matches, type Wanted } from "../api/group";
import type { Group } from "../api/types";
import { count } from "../text/numbers";

const pageSize = 1000; // the most that the server gives
const mostGroups = 20_000;

export interface Filtered {
  groups: Group[];
  isFiltering: boolean;
  loading: boolean;
  looked: number;
  cut: boolean; // there are more than are read
}

/** `shown` is what the page has already; if there is `more`, all is read as soon as somebody filters. */
export function useFiltered(shown: Group[], more: boolean, wanted: Wanted): Filtered {
  const isFiltering = wanted.text.trim() !== "" || wanted.state !== "any" || wanted.cause !== "any";
  const [all, setAll] = useState<{ groups: Group[]; done: boolean; cut: boolean }>({
    groups: [],
    done: false,
    cut: false,
  });
  useEffect(() => {
    if (!isFiltering || !more) return;
    const call = new AbortController();
    readAll((groups, done, cut) => setAll({ groups, done, cut }), call.signal).catch(() => {}); // what is shown stays
    return () => call.abort();
  }, [isFiltering && more]);
  const source = more && isFiltering && all.groups.length > shown.length ? all.groups : shown;
  const groups = useMemo(() => source.filter((group) => matches(group, wanted)), [source, wanted]);
  return {
    groups,
    isFiltering,
    loading: isFiltering && more && !all.done,
    looked: source.length,
    cut: isFiltering && all.cut,
  };
}

async function readAll(
  tell: (groups: Group[], done: boolean, cut: boolean) => void,
  signal: AbortSignal,
): Promise<void> {
  const groups: Group[] = [];
  let cursor: string | undefined;
  do {
    const search = new URLSearchParams({ limit: String(pageSize) });
    if (cursor) search.set("cursor", cursor);
    const page = await get<{ groups: Group[]; next?: string }>(
      `/v1/dead/groups?${search.toString()}`,
      signal,
    );
    groups.push(...page.groups);
    cursor = page.next;
    const cut = cursor !== undefined && groups.length >= mostGroups;
    tell([...groups], cursor === undefined || cut, cut);
    if (cut) return;
  } while (cursor);
}

export function LoadAll({ filter }: { filter: Filtered }) {
  if (!filter.isFiltering) return null;
  return (
    <p class="faint small" role="status">
      {count(filter.groups.length)} of {count(filter.looked)} groups
      {filter.loading && ", still looking …"}
      {filter.cut && "; there are more, which were not looked at"}
    </p>
  );
}
