// One task, with its payload and its result as the very texts that they are.
import { member } from "../text/json";
import { getText } from "./client";
import type { Task } from "./types";

export interface Content {
  form: "json" | "text" | "binary";
  text: string; // of binary: in base64
}

export interface WholeTask extends Task {
  payloadContent: Content | undefined;
  resultContent: Content | undefined;
}

function contentOf(answer: string, task: Task, name: "payload" | "result"): Content | undefined {
  const text = task[`${name}_text`];
  if (text !== undefined) return { form: "text", text };
  const base64 = task[`${name}_base64`];
  if (base64 !== undefined) return { form: "binary", text: base64 };
  const json = member(answer, name);
  return json === undefined ? undefined : { form: "json", text: json };
}

export function wholeTask(answer: string): WholeTask {
  const task = JSON.parse(answer) as Task;
  return {
    ...task,
    payloadContent: contentOf(answer, task, "payload"),
    resultContent: contentOf(answer, task, "result"),
  };
}

export async function loadTask(id: string, signal?: AbortSignal): Promise<WholeTask> {
  return wholeTask(await getText(`/v1/tasks/${encodeURIComponent(id)}`, signal));
}
