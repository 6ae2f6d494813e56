// The first step of every replay and discard of many: the server plans it, and the plan is shown.
import { post } from "../api/client";
import type { Operation } from "../api/operation";
import { goTo } from "../state/location";
import { operationHref } from "../text/route";
import { ask } from "../ui/ask";
import { attempt } from "../ui/toast";

export async function planReplay(query: string): Promise<void> {
  const operation = await attempt(() =>
    post<Operation>("/v1/operations", {
      action: "replay",
      query,
      canary: true,
      stop_at: 0.1,
      reset: true,
      start: false,
    }),
  );
  if (operation) goTo(operationHref(operation.id));
}

export async function planDiscard(query: string): Promise<void> {
  const reason = await ask({
    title: "Discard dead letters",
    text: "They will not be run again. First you see how many there are; nothing is discarded before you say so.",
    action: "Show the plan",
    field: { label: "Reason", required: true, hint: "It is kept with each task, and in the audit log." },
  });
  if (reason === null) return;
  const operation = await attempt(() =>
    post<Operation>("/v1/operations", { action: "discard", query, reason, start: false }),
  );
  if (operation) goTo(operationHref(operation.id));
}
