// What is shown in the place of data: while it comes, when there is none, when it cannot be had.
import type { ComponentChildren } from "preact";
import type { Problem } from "../api/client";
import type { Loaded } from "../state/resource";
import { Button } from "./button";
import { Icon, type IconName } from "./icon";

export function Skeleton({ rows = 4, tall = false }: { rows?: number; tall?: boolean }) {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} class={`bone bone-${index % 3}${tall ? " bone-tall" : ""}`} />
      ))}
    </div>
  );
}

/** The shape of the overview. */
export function TilesSkeleton() {
  return (
    <div role="status" aria-label="Loading">
      <div class="tiles">
        {[0, 1, 2, 3].map((index) => (
          <div key={index} class={`bone bone-tall bone-${index % 3}`} />
        ))}
      </div>
    </div>
  );
}

export function ChartsSkeleton() {
  return (
    <div class="charts" role="status" aria-label="Loading">
      {[0, 1, 2, 3].map((index) => (
        <div key={index} class={`bone bone-chart bone-${index % 3}`} />
      ))}
    </div>
  );
}

export function Empty({
  icon = "empty",
  title,
  children,
}: {
  icon?: IconName;
  title: string;
  children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} size={26} />
      </span>
      <p class="empty-title">{title}</p>
      {children && <div class="empty-text">{children}</div>}
    </div>
  );
}

export function ProblemBox({ problem, retry }: { problem: Problem; retry?: () => void }) {
  return (
    <div class="notice notice-red" role="alert">
      <Icon name="warning" />
      <div class="notice-body">
        <p class="notice-title">{problem.title}</p>
        {problem.detail && <p>{problem.detail}</p>}
      </div>
      {retry && (
        <Button small icon="retry" onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  );
}

export function Notice({
  tone,
  icon = "warning",
  title,
  children,
}: {
  tone: "red" | "amber" | "accent";
  icon?: IconName;
  title: string;
  children?: ComponentChildren;
}) {
  return (
    <div class={`notice notice-${tone}`}>
      <Icon name={icon} />
      <div class="notice-body">
        <p class="notice-title">{title}</p>
        {children}
      </div>
    </div>
  );
}

/** Data as soon as there is some. What could not be had anew stays, with the problem above it. */
export function Shown<T>({
  of,
  skeleton,
  children,
}: {
  of: Loaded<T>;
  skeleton?: ComponentChildren;
  children: (data: T) => ComponentChildren;
}) {
  if (of.data === undefined)
    return of.problem ? (
      <ProblemBox problem={of.problem} retry={of.refresh} />
    ) : (
      <>{skeleton ?? <Skeleton />}</>
    );
  return (
    <>
      {of.problem && of.problem.status > 0 && <ProblemBox problem={of.problem} retry={of.refresh} />}
      <div class={of.problem ? "stale" : undefined}>{children(of.data)}</div>
    </>
  );
}
