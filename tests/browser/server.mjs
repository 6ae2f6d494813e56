// `holdfast serve` for a test: a folder of its own, a port that stays the same when it is started again.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const holdfast = process.env.HOLDFAST_BINARY;
const patience = 120_000; // on any machine

// Below those that the system takes for outgoing connections, so that it is still free when a server that was
// killed starts again.
async function freePort() {
  for (;;) {
    const port = 15_000 + Math.floor(Math.random() * 16_000);
    const listener = createServer();
    const taken = await new Promise((resolve) => {
      listener.on("error", () => resolve(true));
      listener.listen(port, "127.0.0.1", () => listener.close(() => resolve(false)));
    });
    if (!taken) return port;
  }
}

export class Server {
  /** `config` is TOML; tokens is {name: role}, each with a secret that `secret(name)` tells. */
  static async start(config = "", tokens = {}) {
    const server = new Server();
    server.folder = mkdtempSync(join(tmpdir(), "holdfast-browser-"));
    server.port = await freePort();
    server.url = `http://127.0.0.1:${server.port}`;
    server.environment = {};
    let text = `[http]\nlisten = "127.0.0.1:${server.port}"\n[store]\nurl = "sqlite:tasks.db"\n`;
    for (const [name, role] of Object.entries(tokens)) {
      server.environment[`TOKEN_${name}`] = server.secret(name);
      text += `[token.${name}]\nrole = "${role}"\nsecret = "env:TOKEN_${name}"\n`;
    }
    server.asks = Object.keys(tokens).find((name) => tokens[name] === "operate");
    writeFileSync(join(server.folder, "holdfast.toml"), text + config);
    await server.begin();
    return server;
  }

  secret(name) {
    return `token-of-${name}-for-the-browser-test`;
  }

  async begin() {
    this.process = spawn(holdfast, ["serve", "--config", "holdfast.toml"], {
      cwd: this.folder,
      env: { ...process.env, ...this.environment },
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.ended = once(this.process, "exit");
    const log = [];
    const ready = new Promise((resolve) => {
      createInterface(this.process.stderr).on("line", (line) => {
        log.push(line);
        if (line.includes('"server.ready"')) resolve(true);
      });
      this.process.on("exit", () => resolve(false));
    });
    if (!(await ready)) throw new Error(`the server did not start:\n${log.slice(-5).join("\n")}`);
  }

  /** At once, as a power cut would. */
  async kill() {
    this.process.kill("SIGKILL");
    await this.ended;
  }

  async end() {
    if (this.process.exitCode === null && this.process.signalCode === null) await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  file(name) {
    return join(this.folder, name);
  }

  async call(method, path, body) {
    const headers = { ...(body === undefined ? {} : { "Content-Type": "application/json" }) };
    if (this.asks) headers.Authorization = `Bearer ${this.secret(this.asks)}`;
    const answer = await fetch(this.url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  }

  async submit(tasks) {
    const answers = await this.call("POST", "/v1/tasks", tasks);
    return answers.map((answer) => answer.id);
  }

  /** Asks until `holds` is true of the answer, which it gives back. */
  async until(path, holds) {
    const last = Date.now() + patience;
    for (;;) {
      const answer = await this.call("GET", path);
      if (holds(answer)) return answer;
      if (Date.now() > last) throw new Error(`${path} did not come to that: ${JSON.stringify(answer)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Until so many tasks are in each of these states, over all queues. */
  async untilTasks(counts) {
    const sum = (queues, state) => queues.reduce((all, queue) => all + queue.tasks[state], 0);
    return this.until("/v1/queues", ({ queues }) =>
      Object.entries(counts).every(([state, count]) => sum(queues, state) === count),
    );
  }
}
