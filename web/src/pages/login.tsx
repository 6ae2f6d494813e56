import { useEffect, useState } from "preact/hooks";
import { problemFrom, type Problem } from "../api/client";
import { askSession, logIn } from "../state/session";
import { Button } from "../ui/button";
import { Logo } from "../ui/icon";
import { ProblemBox } from "../ui/states";

export function Login({ ended }: { ended: boolean }) {
  const [token, setToken] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const submit = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      await logIn(token.trim());
    } catch (error) {
      setProblem(problemFrom(error));
      setBusy(false);
    }
  };
  return (
    <main class="login">
      <form
        class="login-card card"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <div class="login-brand">
          <Logo />
          <h1>Holdfast</h1>
        </div>
        <p class="faint">
          {ended
            ? "The session has ended. Log in again to go on where you were."
            : "Work that must not get lost."}
        </p>
        <label class="field">
          <span class="field-label">Token</span>
          <input
            class="input"
            type="password"
            autocomplete="current-password"
            autofocus
            required
            aria-describedby="token-hint"
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
          <span class="field-hint" id="token-hint">
            One of those in the server’s configuration. It stays in a cookie that no script can read.
          </span>
        </label>
        {problem &&
          (problem.status === 401 ? (
            <p class="field-error" role="alert">
              The server does not know this token.
            </p>
          ) : (
            <ProblemBox problem={problem} />
          ))}
        <Button type="submit" kind="primary" busy={busy} disabled={token.trim() === ""}>
          Log in
        </Button>
      </form>
    </main>
  );
}

export function Unreachable({ problem }: { problem: Problem }) {
  useEffect(() => {
    const timer = setInterval(() => void askSession(), 3000);
    return () => clearInterval(timer);
  }, []);
  return (
    <main class="login">
      <div class="login-card card">
        <div class="login-brand">
          <Logo />
          <h1>Holdfast</h1>
        </div>
        <ProblemBox problem={problem} retry={() => void askSession()} />
      </div>
    </main>
  );
}
