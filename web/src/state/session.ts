// Who looks at the page, and what they may do.
import { get, post, problemFrom, remove, whenUnauthorized, type Problem } from "../api/client";
import type { Session } from "../api/types";
import { forgetAll } from "./resource";
import { Signal } from "./signal";

export type Access =
  | { kind: "asking" }
  | { kind: "unreachable"; problem: Problem }
  | { kind: "login"; ended: boolean } // `ended`: there was a session before
  | { kind: "open"; session: Session };

export const access = new Signal<Access>({ kind: "asking" });

whenUnauthorized(() => {
  if (access.value.kind === "login") return;
  forgetAll();
  access.set({ kind: "login", ended: access.value.kind === "open" });
});

export async function askSession(): Promise<void> {
  try {
    const session = await get<Session>("/v1/session");
    const open = session.login === "none" || session.role !== null;
    if (open) access.set({ kind: "open", session });
    else if (access.value.kind !== "login") {
      forgetAll();
      access.set({ kind: "login", ended: access.value.kind === "open" });
    }
  } catch (error) {
    if (access.value.kind !== "open") access.set({ kind: "unreachable", problem: problemFrom(error) });
  }
}

export async function logIn(token: string): Promise<void> {
  await post("/v1/session", { token });
  await askSession();
}

export async function logOut(): Promise<void> {
  await remove("/v1/session");
  forgetAll();
  access.set({ kind: "login", ended: false });
}

/** Whether buttons that change something are shown; the server decides in any case. */
export function mayOperate(): boolean {
  const now = access.value;
  return now.kind === "open" && (now.session.login === "none" || now.session.role === "operate");
}
