import { useEffect, useState } from "preact/hooks";
import { live } from "../state/live";
import { useSignal } from "../state/signal";
import { clock } from "../text/times";
import { Button } from "./button";
import { Icon } from "./icon";

const patience = 1500; // a stream that comes back by then was not missed

export function ConnectionDot() {
  const now = useSignal(live.connection);
  const busy = useSignal(live.busy);
  const texts = {
    off: "not connected",
    connecting: "connecting …",
    live: busy ? "live, every second" : "live",
    lost: "not connected",
  };
  return (
    <p class={`connection connection-${now.kind}`}>
      <span class={`dot${now.kind === "live" ? " dot-pulse" : ""}`} />
      {texts[now.kind]}
    </p>
  );
}

/** While the server cannot be reached: since when, when it is tried again; and all that is shown is marked as old. */
export function ConnectionBanner() {
  const now = useSignal(live.connection);
  const [time, setTime] = useState(Date.now());
  const lost = now.kind === "lost" ? now : undefined;
  useEffect(() => {
    if (!lost) return;
    setTime(Date.now());
    const timer = setInterval(() => setTime(Date.now()), 250);
    return () => clearInterval(timer);
  }, [lost !== undefined]);
  const shows = lost !== undefined && time - lost.since > patience;
  useEffect(() => {
    document.documentElement.toggleAttribute("data-disconnected", shows);
    return () => document.documentElement.removeAttribute("data-disconnected");
  }, [shows]);
  if (!shows) return null;
  const seconds = Math.max(0, Math.ceil((lost.retryAt - time) / 1000));
  return (
    <div class="banner" role="alert">
      <Icon name="offline" />
      <p>
        <strong>The server cannot be reached.</strong> What you see is from {clock(lost.since)}.{" "}
        <span class="banner-wait">{seconds > 0 ? `Trying again in ${seconds} s` : "Trying …"}</span>
      </p>
      <Button small onClick={() => live.retryNow()}>
        Try now
      </Button>
    </div>
  );
}
