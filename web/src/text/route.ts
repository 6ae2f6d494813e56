// Where in the page somebody is: what follows the # in the address.

export interface Route {
  page:
    | "overview"
    | "queues"
    | "tasks"
    | "task"
    | "dead"
    | "group"
    | "operations"
    | "operation"
    | "audit"
    | "workers"
    | "brokers"
    | "broker_queue"
    | "recovery"
    | "lost";
  id: string; // of a task, a group, an operation or a recovery; the name of a broker
  query: URLSearchParams;
}

const alone: Record<string, Route["page"]> = {
  "": "overview",
  queues: "queues",
  tasks: "tasks",
  dead: "dead",
  operations: "operations",
  audit: "audit",
  workers: "workers",
  brokers: "brokers",
};
const withId: Record<string, Route["page"]> = {
  tasks: "task",
  dead: "group",
  operations: "operation",
  brokers: "broker_queue",
  recoveries: "recovery",
};

/** "#/tasks?q=state:dead" → its page; what is no page of ours is "lost". */
export function parseRoute(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#?\/?/, "").split(/\?(.*)/s);
  const [first = "", id = "", ...more] = path.split("/");
  const query = new URLSearchParams(search);
  const page = more.length > 0 ? undefined : id === "" ? alone[first] : withId[first];
  return { page: page ?? "lost", id: decoded(id), query };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The address of a page: hrefTo("tasks", {q: "state:dead"}) → "#/tasks?q=state%3Adead" */
export function hrefTo(path: string, query: Record<string, string> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== "");
  const search = new URLSearchParams(given).toString();
  return `#/${path}${search ? `?${search}` : ""}`;
}

export const taskHref = (id: string) => hrefTo(`tasks/${encodeURIComponent(id)}`);
export const groupHref = (id: string) => hrefTo(`dead/${encodeURIComponent(id)}`);
export const operationHref = (id: string) => hrefTo(`operations/${encodeURIComponent(id)}`);
export const recoveryHref = (id: string) => hrefTo(`recoveries/${encodeURIComponent(id)}`);
export const brokerQueueHref = (broker: string, queue: string) =>
  hrefTo(`brokers/${encodeURIComponent(broker)}`, { queue });
export const tasksHref = (query: string) => hrefTo("tasks", { q: query });
