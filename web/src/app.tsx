// The frame around all pages: navigation, connection, who is logged in.
import { useEffect, useRef, useState } from "preact/hooks";
import { isOver } from "./api/operation";
import { live } from "./state/live";
import { route } from "./state/location";
import { access, askSession, logOut } from "./state/session";
import { useLatestOperations, useStats } from "./state/shared";
import { useSignal } from "./state/signal";
import { nextTheme, theme } from "./state/theme";
import { compact, count } from "./text/numbers";
import { hrefTo, type Route } from "./text/route";
import { AskHost } from "./ui/ask";
import { Button } from "./ui/button";
import { ConnectionBanner, ConnectionDot } from "./ui/connection";
import { Icon, Logo, type IconName } from "./ui/icon";
import { useShortcuts, ShortcutHelp } from "./ui/shortcuts";
import { Skeleton } from "./ui/states";
import { Toasts } from "./ui/toast";
import { Login, Unreachable } from "./pages/login";
import { PageOf } from "./pages/page_of";

const sections: { path: string; title: string; icon: IconName; pages: Route["page"][] }[] = [
  { path: "", title: "Overview", icon: "overview", pages: ["overview"] },
  { path: "queues", title: "Queues", icon: "queues", pages: ["queues"] },
  { path: "tasks", title: "Tasks", icon: "tasks", pages: ["tasks", "task"] },
  { path: "dead", title: "Dead letters", icon: "dead", pages: ["dead", "group"] },
  { path: "operations", title: "Replays", icon: "operations", pages: ["operations", "operation", "audit"] },
  { path: "brokers", title: "Brokers", icon: "brokers", pages: ["brokers", "broker_queue", "recovery"] },
  { path: "workers", title: "Workers", icon: "workers", pages: ["workers"] },
];

export function App() {
  const now = useSignal(access);
  useEffect(() => void askSession(), []);
  useEffect(() => {
    if (now.kind !== "open") return;
    live.start(() => void askSession());
    return () => live.stop();
  }, [now.kind]);
  return (
    <>
      {now.kind === "asking" && <Waiting />}
      {now.kind === "unreachable" && <Unreachable problem={now.problem} />}
      {now.kind === "login" && <Login ended={now.ended} />}
      {now.kind === "open" && <Frame />}
      <AskHost />
      <Toasts />
    </>
  );
}

function Waiting() {
  return (
    <main class="waiting">
      <Skeleton rows={3} />
    </main>
  );
}

function Frame() {
  const now = useSignal(route);
  const main = useRef<HTMLElement>(null);
  const [menu, setMenu] = useState(false);
  const shortcuts = useShortcuts();
  const first = useRef(true);
  const place = `${now.page}/${now.id}`;
  useEffect(() => {
    setMenu(false);
    if (!first.current) {
      scrollTo(0, 0);
      main.current?.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
    }
    first.current = false;
  }, [place]);
  return (
    <div class="frame">
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault(); // what follows the # is the page
          main.current?.focus();
        }}
      >
        Skip to the content
      </a>
      <header class="side">
        <div class="side-head">
          <a class="brand" href="#/">
            <Logo />
            <span>Holdfast</span>
          </a>
          <span class="side-menu">
            <Button
              kind="quiet"
              icon={menu ? "close" : "menu"}
              label={menu ? "Close the menu" : "Menu"}
              onClick={() => setMenu(!menu)}
            />
          </span>
        </div>
        <div class={`side-body${menu ? " side-open" : ""}`}>
          <Navigation page={now.page} />
          <SideFoot />
        </div>
      </header>
      <main class="main" id="main" ref={main} tabIndex={-1}>
        <ConnectionBanner />
        <PageOf key={place} route={now} />
      </main>
      {shortcuts.help && <ShortcutHelp onClose={shortcuts.close} />}
    </div>
  );
}

function Navigation({ page }: { page: Route["page"] }) {
  const stats = useStats();
  const operations = useLatestOperations();
  const dead = stats.data?.totals?.tasks.dead ?? 0;
  const underWay =
    operations.data?.operations.filter((one) => !isOver(one) && one.state !== "planned").length ?? 0;
  const numbers: Record<string, { value: number; text: string; tone: string }> = {
    dead: { value: dead, text: `${count(dead)} dead letters`, tone: "red" },
    operations: { value: underWay, text: `${count(underWay)} under way`, tone: "blue" },
  };
  return (
    <nav aria-label="Pages">
      <ul class="nav">
        {sections.map(({ path, title, icon, pages }) => {
          const number = numbers[path];
          return (
            <li key={path}>
              <a
                class="nav-link"
                href={hrefTo(path)}
                aria-current={pages.includes(page) ? "page" : undefined}
              >
                <Icon name={icon} />
                <span class="nav-title">{title}</span>
                {number !== undefined && number.value > 0 && (
                  <span class={`nav-count tone-${number.tone}`} title={number.text}>
                    {compact(number.value)}
                  </span>
                )}
              </a>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

const themeIcons = { system: "system", light: "sun", dark: "moon" } as const;

function SideFoot() {
  const chosen = useSignal(theme);
  const now = useSignal(access);
  const session = now.kind === "open" ? now.session : undefined;
  return (
    <div class="side-foot">
      <ConnectionDot />
      <div class="who">
        <div class="who-text">
          {session?.login === "token" ? (
            <>
              <span class="who-name">{session.name}</span>
              <span class="faint">
                {session.role === "operate" ? "may do everything" : `may ${session.role}`}
              </span>
            </>
          ) : (
            <>
              <span class="who-name">This machine</span>
              <span class="faint">no token needed</span>
            </>
          )}
        </div>
        <Button
          kind="quiet"
          icon={themeIcons[chosen]}
          label={`Colours: ${chosen}. Change`}
          onClick={nextTheme}
        />
        {session?.login === "token" && (
          <Button kind="quiet" icon="out" label="Log out" onClick={() => void logOut()} />
        )}
      </div>
      <p class="version">
        Holdfast {session?.version} · <kbd>?</kbd> for keys
      </p>
    </div>
  );
}
