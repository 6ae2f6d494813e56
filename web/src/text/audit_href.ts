import type { AuditEntry } from "../api/types";
import { groupHref, hrefTo, operationHref, recoveryHref, taskHref, tasksHref } from "./route";

/** Where what an entry is about can be seen; nothing: not here, but at its broker. */
export function hrefOf(entry: Pick<AuditEntry, "what" | "operation">): string | undefined {
  if (entry.what.startsWith("dead-letter queue ")) return entry.operation && recoveryHref(entry.operation);
  if (entry.operation) return operationHref(entry.operation);
  const [, kind, name = ""] = /^(task|queue|group)[ :](.+)$/.exec(entry.what) ?? [];
  if (kind === "task") return taskHref(name);
  if (kind === "group" && /^[0-9a-f]{16}$/.test(name)) return groupHref(name);
  return kind === "queue" ? hrefTo("queues") : tasksHref(entry.what);
}
