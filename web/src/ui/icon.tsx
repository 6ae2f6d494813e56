// Drawings of our own, in lines: 20 by 20, in the colour of the text around them.
const paths = {
  overview: "M3 17V9m5 8V4m5 13v-6m4 6V7",
  queues: "M4 5h12M4 10h12M4 15h7",
  tasks: "M4 5.5l1.5 1.5L8 4m-4 7.5L5.5 13 8 10m3-4.5h6m-6 6h6M4 17h.01M8 17h9",
  dead: "M3 12l2.5-8h9L17 12v4H3v-4zm0 0h4l1 2h4l1-2h4",
  operations: "M4 10a6 6 0 0 1 10.5-4L16 7.5M16 4v3.5h-3.5M16 10a6 6 0 0 1-10.5 4L4 12.5M4 16v-3.5h3.5",
  brokers: "M3 7l7-3.5L17 7l-7 3.5L3 7zm0 3l7 3.5 7-3.5M3 13l7 3.5 7-3.5",
  workers: "M6 6h8v8H6zM8 3v3m4-3v3m-4 8v3m4-3v3M3 8h3m-3 4h3m8-4h3m-3 4h3",
  sun: "M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM10 2v1.5m0 13V18m8-8h-1.5m-13 0H2m13.7-5.7l-1 1m-9.4 9.4l-1 1m11.4 0l-1-1M5.3 5.3l-1-1",
  moon: "M16 11.5A6.5 6.5 0 0 1 8.5 4a6.5 6.5 0 1 0 7.5 7.5z",
  system: "M3 4h14v9H3zM7 17h6m-3-4v4",
  menu: "M3 6h14M3 10h14M3 14h14",
  close: "M5 5l10 10M15 5L5 15",
  pause: "M7 5v10m6-10v10",
  play: "M7 4.5v11l8-5.5z",
  stop: "M6 6h8v8H6z",
  retry: "M15.5 10A5.5 5.5 0 1 1 13.5 5.8L16 8m0-4.5V8h-4.5",
  edit: "M4 16l1-4 8-8 3 3-8 8-4 1zm7.5-10.5l3 3",
  trash: "M4 6h12M8 6V4h4v2m-6.5 0l.7 10h7.6l.7-10M8.5 9v4.5m3-4.5v4.5",
  copy: "M7 7h9v9H7zM4 13V4h9",
  check: "M4 10.5l4 4 8-9",
  chevron: "M7 5l5 5-5 5",
  down: "M5 8l5 5 5-5",
  search: "M9 4a5 5 0 1 0 0 10A5 5 0 0 0 9 4zm3.7 8.7L16.5 16.5",
  warning: "M10 3.5L2.5 16.5h15L10 3.5zm0 5v4m0 2.2v.1",
  offline:
    "M3 3l14 14M2.5 8A11 11 0 0 1 6 5.8m3-.8a11 11 0 0 1 8.5 3M5 11a7 7 0 0 1 3-1.8m3.5.3A7 7 0 0 1 15 11m-5 4.5v.1",
  download: "M10 3.5v9m-4-3.5l4 4 4-4M4 16.5h12",
  help: "M10 2.5a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15zM7.8 8a2.2 2.2 0 1 1 3.3 1.9c-.7.4-1.1.9-1.1 1.6v.3m0 2.3v.1",
  out: "M8 4H4v12h4m4-9l3 3-3 3m3-3H8",
  arrow: "M4 10h12m-4-4l4 4-4 4",
  empty: "M3 11l2.5-6h9L17 11v5H3v-5zm0 0h4l1 2h4l1-2h4",
  limit: "M4 14a6 6 0 1 1 12 0M10 14l3-4",
  bolt: "M11 2.5L4.5 11H9l-1 6.5L15.5 9H11l0-6.5z",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      class="icon"
      viewBox="0 0 20 20"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      stroke-width="1.6"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={paths[name]} />
    </svg>
  );
}

export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
      <rect width="32" height="32" rx="8" class="logo-ground" />
      <path d="M10 7v18M22 7v18M10 16c4 0 4-4 6-4s2 4 6 4" class="logo-line" />
    </svg>
  );
}
