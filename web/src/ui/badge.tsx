import type { ComponentChildren } from "preact";
import type { OperationState } from "../api/operation";
import type { State } from "../api/types";

export type Tone = "neutral" | "blue" | "green" | "amber" | "orange" | "red" | "accent";

export function Badge({
  tone,
  children,
  title,
}: {
  tone: Tone;
  children: ComponentChildren;
  title?: string;
}) {
  return (
    <span class={`badge tone-${tone}`} title={title}>
      {children}
    </span>
  );
}

export const stateTones: Record<State, Tone> = {
  pending: "neutral",
  running: "blue",
  retrying: "amber",
  succeeded: "green",
  failed: "orange",
  dead: "red",
  canceled: "neutral",
};

export function StateBadge({ state, title }: { state: State; title?: string }) {
  return (
    <Badge tone={stateTones[state]} {...(title ? { title } : {})}>
      <span class={`dot${state === "running" ? " dot-pulse" : ""}`} />
      {state}
    </Badge>
  );
}

const operationTones: Record<OperationState, Tone> = {
  planning: "accent",
  planned: "accent",
  running: "blue",
  waiting: "blue",
  paused: "amber",
  stopped: "red",
  done: "green",
  canceled: "neutral",
  failed: "red",
};

export function OperationBadge({ state }: { state: OperationState }) {
  const moves = state === "running" || state === "planning" || state === "waiting";
  return (
    <Badge tone={operationTones[state]}>
      <span class={`dot${moves ? " dot-pulse" : ""}`} />
      {state}
    </Badge>
  );
}
