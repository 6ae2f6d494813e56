// What became of what somebody did, for some seconds.
import { problemFrom } from "../api/client";
import { Signal, useSignal } from "../state/signal";
import { Button } from "./button";
import { Icon } from "./icon";

interface Toast {
  id: number;
  text: string;
  detail: string;
  bad: boolean;
}
const toasts = new Signal<Toast[]>([]);
let latest = 0;

function show(text: string, detail: string, bad: boolean): void {
  latest += 1;
  const id = latest;
  toasts.set([...toasts.value.slice(-2), { id, text, detail, bad }]);
  setTimeout(() => drop(id), bad ? 12_000 : 5000);
}

function drop(id: number): void {
  toasts.set(toasts.value.filter((toast) => toast.id !== id));
}

export function tell(text: string): void {
  show(text, "", false);
}

/** Does it, and says what became of it. Comes back with the answer, or undefined if it failed. */
export async function attempt<T>(what: () => Promise<T>, done?: string): Promise<T | undefined> {
  try {
    const answer = await what();
    if (done) tell(done);
    return answer;
  } catch (error) {
    const problem = problemFrom(error);
    show(problem.title, problem.detail, true);
    return undefined;
  }
}

export function Toasts() {
  const now = useSignal(toasts);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {now.map((toast) => (
        <div key={toast.id} class={`toast${toast.bad ? " toast-bad" : ""}`}>
          <Icon name={toast.bad ? "warning" : "check"} />
          <div class="toast-body">
            <p>{toast.text}</p>
            {toast.detail && <p class="toast-detail">{toast.detail}</p>}
          </div>
          <Button kind="quiet" small icon="close" label="Dismiss" onClick={() => drop(toast.id)} />
        </div>
      ))}
    </div>
  );
}
