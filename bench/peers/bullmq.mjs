// BullMQ for bench/peers: its defaults, with finished jobs removed, as its own benchmarks have it and as is
// faster. What has failed is kept.
import { createRequire } from 'node:module';

import { main } from './roles.mjs';

// Its native modules cannot load ioredis by themselves.
const { Queue, Worker } = createRequire(import.meta.url)('bullmq');

const kQueue = 'bench';

await main({
  async producer({ host, port, attempts }) {
    const queue = new Queue(kQueue, { connection: { host, port } });
    await queue.waitUntilReady();
    const opts = { attempts, removeOnComplete: true };
    return {
      one: (data) => queue.add('nothing', data, opts),
      many: (all) => queue.addBulk(all.map((data) => ({ name: 'nothing', data, opts }))),
    };
  },

  async worker({ host, port, concurrency, attempts, fails }, ended) {
    const handler = fails ? async () => { throw new Error('connection reset by peer'); } : async () => {};
    const worker = new Worker(kQueue, handler, { connection: { host, port }, concurrency, autorun: false });
    worker.on('completed', (job) => ended(job.data));
    worker.on('failed', (job) => { if (job.attemptsMade >= attempts) ended(job.data); });
    worker.on('error', (error) => console.error(error));
    await worker.waitUntilReady();
    return { start: async () => { worker.run().catch((error) => console.error(error)); } };
  },
});
