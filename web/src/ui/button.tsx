import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon";

interface ButtonProps {
  children?: ComponentChildren;
  onClick?: () => void;
  icon?: IconName;
  kind?: "plain" | "primary" | "danger" | "quiet";
  small?: boolean;
  type?: "button" | "submit";
  disabled?: boolean;
  busy?: boolean;
  label?: string; // where there is only an icon
  title?: string;
}

export function Button(props: ButtonProps) {
  const { kind = "plain", small = false, type = "button", disabled = false, busy = false } = props;
  const alone = props.icon !== undefined && props.children === undefined;
  return (
    <button
      type={type}
      class={`button button-${kind}${small ? " button-small" : ""}${alone ? " button-icon" : ""}`}
      onClick={props.onClick}
      disabled={disabled || busy}
      aria-busy={busy}
      aria-label={props.label}
      title={props.title ?? props.label}
    >
      {busy ? (
        <span class="spinner" aria-hidden="true" />
      ) : (
        props.icon && <Icon name={props.icon} size={16} />
      )}
      {props.children !== undefined && <span>{props.children}</span>}
    </button>
  );
}

export function LinkButton({
  href,
  icon,
  children,
  kind = "plain",
  download,
}: {
  href: string;
  icon?: IconName;
  children: ComponentChildren;
  kind?: "plain" | "primary";
  download?: string;
}) {
  return (
    <a class={`button button-${kind}`} href={href} {...(download ? { download } : {})}>
      {icon && <Icon name={icon} size={16} />}
      <span>{children}</span>
    </a>
  );
}
