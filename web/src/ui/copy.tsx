import { useState } from "preact/hooks";
import { Button } from "./button";

/** Puts a text on the clipboard. */
export function Copy({ text, label = "Copy" }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      copyOldWay(text); // not over plain HTTP, except on this machine
    }
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <Button
      kind="quiet"
      small
      icon={copied ? "check" : "copy"}
      label={copied ? "Copied" : label}
      onClick={() => void copy()}
    />
  );
}

function copyOldWay(text: string): void {
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
