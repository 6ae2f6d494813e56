// Light or dark: as the system has it, unless somebody chose.
import { Signal } from "./signal";

export type Theme = "system" | "light" | "dark";
const key = "holdfast.theme";
const order: Theme[] = ["system", "light", "dark"];

function kept(): Theme {
  try {
    const theme = localStorage.getItem(key) as Theme;
    return order.includes(theme) ? theme : "system";
  } catch {
    return "system"; // storage is switched off
  }
}

export const theme = new Signal<Theme>(kept());
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
/** What is shown now; charts draw anew when it changes. */
export const shown = new Signal<"light" | "dark">("light");

function apply(): void {
  const dark = theme.value === "dark" || (theme.value === "system" && prefersDark.matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  shown.set(dark ? "dark" : "light");
}

export function startTheme(): void {
  apply();
  prefersDark.addEventListener("change", apply);
}

export function nextTheme(): void {
  const next = order[(order.indexOf(theme.value) + 1) % order.length] ?? "system";
  theme.set(next);
  try {
    localStorage.setItem(key, next);
  } catch {
    // kept until the page is closed
  }
  apply();
}
