// A small shop whose tasks fail in ways of their own, until somebody mends them.
import { writeFileSync } from "node:fs";

export const refused = "connect to 10.0.4.17:5432: connection refused";

/** Payments work as soon as there is a file "mended". */
export const shop = `
[alerts]
every = "1s"
over  = "1m"

[queue.shop]
concurrency = 8

[task."mail.send"]
queue   = "shop"
command = ["sh", "-c", "echo sent"]

[task."payment.capture"]
queue   = "shop"
folder  = "."
command = ["sh", "-c", "[ -e mended ] && echo captured && exit; echo '${refused}' >&2; exit 1"]
retry   = { attempts = 2, first = "1ms" }

[task."invoice.post"]
queue   = "shop"
command = ["sh", "-c", "read number; echo \\"invoice $number: no such customer\\" >&2; exit 65"]

[task."report.render"]
queue   = "shop"
command = ["sleep", "60"]
timeout = "50ms"
retry   = { attempts = 2, first = "1ms" }

[task."photo.convert"]
queue   = "shop"
command = ["sh", "-c", "ulimit -c 0; kill -SEGV $$"]
crashes = 1

[task."text.count"]
queue = "texts"
pull  = true
`;

export function mend(server) {
  writeFileSync(server.file("mended"), "");
}

export function payments(count) {
  return Array.from({ length: count }, (_, index) => ({
    type: "payment.capture",
    queue: "shop",
    payload: { order: 4700 + index, total: 149.9, customer: { id: 99_182, email: "ann@example.org" } },
  }));
}

/** Some of each kind, and what becomes of them; some text waits for a worker. */
export async function fill(server) {
  const some = (count, task) => Array.from({ length: count }, () => task);
  await server.submit([
    ...payments(12),
    ...some(20, { type: "mail.send", queue: "shop", payload: { to: "ann@example.org" } }),
    ...some(6, { type: "invoice.post", queue: "shop", payload_text: "4711\n" }),
    ...some(3, { type: "report.render", queue: "shop" }),
    ...some(2, { type: "photo.convert", queue: "shop" }),
    ...some(4, { type: "text.count", queue: "texts", payload: { text: "to hold fast" } }),
  ]);
  await server.untilTasks({ succeeded: 20, failed: 6, dead: 17, pending: 4 });
}
