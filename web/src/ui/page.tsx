import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

/** The head of a page: where one is, what it is about, what can be done. */
export function PageHead({
  title,
  name,
  up,
  text,
  actions,
}: {
  title: ComponentChildren;
  name: string; // for the window
  up?: { href: string; title: string };
  text?: ComponentChildren;
  actions?: ComponentChildren;
}) {
  useEffect(() => {
    document.title = `${name} · Holdfast`;
  }, [name]);
  return (
    <header class="page-head">
      <div class="page-head-text">
        {up && (
          <a class="page-up" href={up.href}>
            {up.title}
          </a>
        )}
        <h1 tabIndex={-1}>{title}</h1>
        {text && <div class="page-sub">{text}</div>}
      </div>
      {actions && <div class="page-actions">{actions}</div>}
    </header>
  );
}

export function Card({
  title,
  aside,
  children,
  flush = false,
}: {
  title?: ComponentChildren;
  aside?: ComponentChildren;
  children: ComponentChildren;
  flush?: boolean; // what is in it reaches the edges
}) {
  return (
    <section class={`card${flush ? " card-flush" : ""}`}>
      {title !== undefined && (
        <header class="card-head">
          <h2>{title}</h2>
          {aside !== undefined && <div class="card-aside">{aside}</div>}
        </header>
      )}
      {children}
    </section>
  );
}

export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
