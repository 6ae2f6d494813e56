// How an operation is to run, and the button that starts it.
import { useState } from "preact/hooks";
import { post } from "../api/client";
import type { Operation } from "../api/operation";
import { put, refreshAll } from "../state/resource";
import { count, counted } from "../text/numbers";
import { ask } from "../ui/ask";
import { Button } from "../ui/button";
import { Card } from "../ui/page";
import { Segments } from "../ui/segments";
import { attempt } from "../ui/toast";

function numberIn(text: string): number | null {
  const value = Number(text);
  return text.trim() === "" || !Number.isFinite(value) || value <= 0 ? null : value;
}

export function StartForm({ operation }: { operation: Operation }) {
  const { options, plan, state } = operation;
  const replays = operation.action === "replay";
  const [way, setWay] = useState<"canary" | "whole">(options.canary ? "canary" : "whole");
  const [stopAt, setStopAt] = useState(String(Math.round(options.stop_at * 1000) / 10));
  const [rate, setRate] = useState(options.rate ? String(options.rate) : "");
  const [cap, setCap] = useState(options.cap ? String(options.cap) : "");
  const [reset, setReset] = useState(options.reset);
  const [reason, setReason] = useState(operation.reason ?? "");
  const [busy, setBusy] = useState(false);
  const planned = state === "planned";
  const total = Math.min(plan?.possible ?? 0, numberIn(cap) ?? Infinity);

  const start = async () => {
    const how =
      replays && way === "canary"
        ? " One comes first, then ten, then the rest, each only if the one before goes well."
        : "";
    const answer = await ask({
      title: replays ? `Bring back ${counted(total, "task")}?` : `Discard ${counted(total, "task")}?`,
      text: replays ? `They will be run again.${how}` : "They will not be run again.",
      action: replays ? `Bring back ${count(total)}` : `Discard ${count(total)}`,
      danger: !replays,
    });
    if (answer === null) return;
    setBusy(true);
    const body = {
      ...(replays && { canary: way === "canary", stop_at: (numberIn(stopAt) ?? 10) / 100, reset }),
      rate: numberIn(rate),
      cap: numberIn(cap),
      reason,
    };
    const given = Object.fromEntries(
      Object.entries(body).filter(([, value]) => value !== null && value !== ""),
    );
    const started = await attempt(
      () => post<Operation>(`/v1/operations/${encodeURIComponent(operation.id)}/start`, given),
      replays ? "The replay has begun" : "The discard has begun",
    );
    setBusy(false);
    if (started) put(`operation:${operation.id}`, started);
    refreshAll("operation");
  };

  return (
    <Card title="Start">
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        {replays && (
          <div class="field">
            <Segments
              label="Way"
              value={way}
              options={{ canary: "Canary", whole: "All at once" }}
              onChange={setWay}
            />
            <span class="field-hint">
              {way === "canary"
                ? "1, then 10, then the rest. It stops when too many fail again."
                : "Everything comes back, as fast as the rate allows."}
            </span>
          </div>
        )}
        {replays && way === "canary" && (
          <NumberField label="Stop when more fail than" unit="%" value={stopAt} onInput={setStopAt} />
        )}
        <NumberField label="Rate" unit="a second" value={rate} onInput={setRate} placeholder="no limit" />
        <NumberField label="At most" unit="tasks" value={cap} onInput={setCap} placeholder="all" />
        {replays && (
          <label class="check-field">
            <input
              type="checkbox"
              checked={reset}
              onChange={(event) => setReset(event.currentTarget.checked)}
            />
            <span>
              Attempts start anew
              <span class="field-hint">Otherwise a task goes on with those it has left.</span>
            </span>
          </label>
        )}
        <label class="field">
          <span class="field-label">Reason {replays && <span class="faint">(optional)</span>}</span>
          <input
            class="input"
            value={reason}
            required={!replays}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
        </label>
        <Button
          type="submit"
          kind={replays ? "primary" : "danger"}
          icon={replays ? "operations" : "trash"}
          busy={busy}
          disabled={!planned || total === 0}
        >
          {!planned
            ? "Planning …"
            : total === 0
              ? "Nothing to do"
              : replays
                ? `Replay ${counted(total, "task")}`
                : `Discard ${counted(total, "task")}`}
        </Button>
      </form>
    </Card>
  );
}

function NumberField({
  label,
  unit,
  value,
  onInput,
  placeholder,
}: {
  label: string;
  unit: string;
  value: string;
  onInput: (value: string) => void;
  placeholder?: string;
}) {
  return (
    <label class="field">
      <span class="field-label">{label}</span>
      <span class="with-unit">
        <input
          class="input"
          inputMode="decimal"
          pattern="[0-9]*[.]?[0-9]*"
          placeholder={placeholder}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
        <span class="unit">{unit}</span>
      </span>
    </label>
  );
}
