// A list that comes in pages: the first one now, more when asked for, all that is shown anew when something happens.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Page } from "../api/types";
import type { EventKind } from "./live";
import { useResource } from "./resource";

export type LoadPage<T> = (cursor: string | undefined, signal: AbortSignal) => Promise<Page<T>>;

const mostLive = 5; // pages that are asked for anew by themselves
const mostEmpty = 10; // pages with nothing in them that are passed over at once

/** The next page that has something in it. What filters leave over may be far apart. */
async function nextFilled<T>(
  load: LoadPage<T>,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<Page<T>> {
  let page = await load(cursor, signal);
  for (let empty = 0; page.items.length === 0 && page.next && empty < mostEmpty; empty += 1)
    page = await load(page.next, signal);
  return page;
}

async function loadPages<T>(load: LoadPage<T>, pages: number, signal: AbortSignal): Promise<Page<T>> {
  let all = await nextFilled(load, undefined, signal);
  for (let page = 1; page < pages && all.next; page += 1) {
    const more = await nextFilled(load, all.next, signal);
    all = { items: [...all.items, ...more.items], next: more.next };
  }
  return all;
}

export function usePages<T>(key: string, load: LoadPage<T>, on: EventKind[], every = 0) {
  const [pages, setPages] = useState(1);
  const want = useRef({ pages: 1, oneMore: false });
  const [loadingMore, setLoadingMore] = useState(false);
  useEffect(() => {
    want.current = { pages: 1, oneMore: false };
    setPages(1);
  }, [key]);

  const loaded = useResource<Page<T>>(
    key,
    async (signal, before) => {
      const { oneMore } = want.current;
      want.current.oneMore = false;
      if (!oneMore || !before?.next) return loadPages(load, want.current.pages, signal);
      const more = await nextFilled(load, before.next, signal);
      return { items: [...before.items, ...more.items], next: more.next };
    },
    pages <= mostLive ? { on, every } : {},
  );
  useEffect(() => setLoadingMore(false), [loaded.data, loaded.problem]);

  return {
    ...loaded,
    isLive: pages <= mostLive,
    loadingMore,
    more: () => {
      want.current = { pages: pages + 1, oneMore: true };
      setPages(pages + 1);
      setLoadingMore(true);
      loaded.refresh();
    },
  };
}
