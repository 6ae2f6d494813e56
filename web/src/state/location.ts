// Which page is shown, by what follows the # in the address.
import { parseRoute, type Route } from "../text/route";
import { Signal } from "./signal";

export const route = new Signal<Route>(parseRoute(location.hash));

export function startLocation(): void {
  addEventListener("hashchange", () => route.set(parseRoute(location.hash)));
}

export function goTo(href: string): void {
  location.hash = href;
}

/** Changes the address without a new entry in the history: for what is typed. */
export function replaceWith(href: string): void {
  history.replaceState(null, "", href);
  route.set(parseRoute(location.hash));
}
