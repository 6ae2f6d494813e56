// What the peers in JavaScript have in common: a command line, and a conversation with bench/peers/phases.py,
// which says what is measured and why so.
//
//   PROGRAM submit|work --url redis://HOST:PORT [--tasks N] [--batch N] [--in-flight N] [--payload BYTES]
//                       [--rate N] [--warm-up N] [--concurrency N] [--attempts N] [--fails] [--seconds N]
//
// Says `ready` when it is connected, begins when it is sent a line (a worker says `started`), and answers with one
// line of JSON. Then it waits to be ended. Times are those of the machine's monotonic clock, in seconds.
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const now = () => Number(process.hrtime.bigint()) / 1e9;
const say = (line) => process.stdout.write(line + '\n');

function commandLine() {
  const numbers = {
    tasks: '1000', batch: '1000', 'in-flight': '2', payload: '200', rate: '0', 'warm-up': '0',
    concurrency: '1', attempts: '1', seconds: '60',
  };
  const options = { url: { type: 'string' }, fails: { type: 'boolean', default: false } };
  for (const [name, value] of Object.entries(numbers)) options[name] = { type: 'string', default: value };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  for (const name of Object.keys(numbers)) values[name] = Number(values[name]);
  const { hostname: host, port } = new URL(values.url);
  return { ...values, role: positionals[0], host, port: Number(port || 6379) };
}

// `at`: when it was submitted, for a task whose time counts.
function task(payload, at = 0) {
  return { at, x: 'x'.repeat(Math.max(0, payload - '{"at":0,"x":""}'.length)) };
}

async function submitInBulk(producer, { tasks, batch, payload, 'in-flight': inFlight }) {
  let left = tasks;
  const one = async () => {
    while (left > 0) {
      const share = Math.min(left, batch);
      left -= share;
      await producer.many(Array.from({ length: share }, () => task(payload)));
    }
  };
  await Promise.all(Array.from({ length: inFlight }, one));
}

async function submitAtRate(producer, { tasks, rate, payload, 'warm-up': warmUp }) {
  const answers = [];
  const began = now();
  for (let i = 0; i < tasks; ++i) {
    const early = began + i / rate - now();
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, early * 1000));
    answers.push(producer.one(task(payload, i < warmUp ? 0 : now())));
  }
  await Promise.all(answers);
}

async function submit(peer, options, next) {
  const producer = await peer.producer(options);
  say('ready');
  await next();
  const began = now();
  await (options.rate > 0 ? submitAtRate : submitInBulk)(producer, options);
  say(JSON.stringify({ began, ended: now() }));
}

async function work(peer, options, next) {
  const times = [];
  let ended = 0;
  let last = 0;
  let over;
  const all = new Promise((resolve) => { over = resolve; });
  const worker = await peer.worker(options, ({ at }) => {
    last = now();
    if (at > 0) times.push(last - at);
    if (++ended === options.tasks) over();
  });
  say('ready');
  await next();
  const began = now();
  await worker.start();
  say('started');
  setTimeout(over, options.seconds * 1000).unref();
  await all;
  say(JSON.stringify({ began, ended: last, done: ended, times_ms: times.map((s) => s * 1000) }));
}

export async function main(peer) {
  const options = commandLine();
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  await (options.role === 'submit' ? submit : work)(peer, options, () => lines.next());
  await lines.next();
  process.exit(0);
}
