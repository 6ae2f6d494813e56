// How a dead-letter queue is to be recovered. A plan comes first: it sends nothing.
import { useState } from "preact/hooks";
import type { Recovery, RecoveryRequest } from "../api/broker";
import { post } from "../api/client";
import { goTo } from "../state/location";
import { refreshAll } from "../state/resource";
import { recoveryHref } from "../text/route";
import { Button } from "../ui/button";
import { Card } from "../ui/page";
import { Segments } from "../ui/segments";
import { attempt } from "../ui/toast";

type Way = "origin" | "queue" | "park";

export async function beginRecovery(request: RecoveryRequest, done: string): Promise<void> {
  const begun = await attempt(() => post<Recovery>("/v1/recoveries", request), done);
  refreshAll("recoveries");
  refreshAll("brokers");
  if (begun) goTo(recoveryHref(begun.id));
}

function positive(text: string): number | undefined {
  const value = Number(text);
  return text.trim() === "" || !Number.isFinite(value) || value <= 0 ? undefined : value;
}

const hints: Record<Way, string> = {
  origin: "Each message goes into the queue where it first died.",
  queue: "All of them go into one queue.",
  park: "All of them are moved, as they are, for a look in peace.",
};

export function RecoverForm({ broker, queue }: { broker: string; queue: string }) {
  const [way, setWay] = useState<Way>("origin");
  const [target, setTarget] = useState("");
  const [park, setPark] = useState("");
  const [filter, setFilter] = useState("");
  const [limit, setLimit] = useState("");
  const [rate, setRate] = useState("");
  const [reason, setReason] = useState("");
  const [busy, setBusy] = useState(false);

  const plan = async () => {
    const most = positive(limit);
    const speed = positive(rate);
    const request: RecoveryRequest = {
      broker,
      queue,
      dry_run: true,
      ...(way === "origin" && { to_origin: "queue" }),
      ...(way === "queue" && { to: target.trim() }),
      ...(park.trim() !== "" && { park: park.trim() }),
      ...(filter.trim() !== "" && { filter: [filter.trim()] }),
      ...(most !== undefined && { limit: Math.ceil(most) }),
      ...(speed !== undefined && { rate: speed }),
      ...(reason.trim() !== "" && { reason: reason.trim() }),
    };
    setBusy(true);
    await beginRecovery(request, "The plan is being made");
    setBusy(false);
  };

  return (
    <Card title="Recover">
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void plan();
        }}
      >
        <div class="field">
          <Segments
            label="Where messages go"
            value={way}
            options={{ origin: "Back", queue: "One queue", park: "Park" }}
            onChange={setWay}
          />
          <span class="field-hint">{hints[way]}</span>
        </div>
        {way === "queue" && <TextField label="Queue" value={target} onInput={setTarget} required />}
        <TextField
          label={way === "park" ? "Park in queue" : "Park what stays in queue"}
          value={park}
          onInput={setPark}
          required={way === "park"}
          hint={way === "park" ? "It must be there already." : "Without one, it stays where it is."}
        />
        <TextField
          label="Filter"
          value={filter}
          onInput={setFilter}
          hint={'Such as age>2h, type=Scan or error~"timed out"'}
        />
        <div class="beside">
          <TextField label="At most" value={limit} onInput={setLimit} numeric />
          <TextField label="A second" value={rate} onInput={setRate} numeric />
        </div>
        <TextField label="Reason" value={reason} onInput={setReason} />
        <Button type="submit" kind="primary" icon="operations" busy={busy}>
          Plan
        </Button>
        <span class="field-hint">
          A plan sends nothing. The broker marks what it looked at as redelivered; a quorum queue counts a
          return.
        </span>
      </form>
    </Card>
  );
}

function TextField({
  label,
  value,
  onInput,
  required = false,
  numeric = false,
  hint,
}: {
  label: string;
  value: string;
  onInput: (value: string) => void;
  required?: boolean;
  numeric?: boolean;
  hint?: string;
}) {
  return (
    <label class="field">
      <span class="field-label">
        {label} {!required && <span class="faint">(optional)</span>}
      </span>
      <input
        class="input"
        value={value}
        required={required}
        {...(numeric ? { inputMode: "decimal" as const, pattern: "[0-9]*[.]?[0-9]*" } : {})}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {hint && <span class="field-hint">{hint}</span>}
    </label>
  );
}
