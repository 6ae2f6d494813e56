// bee-queue for bench/peers: finished jobs are removed and nobody listens to events, both of which make it
// faster; otherwise its defaults. What has failed is kept, and jobs that stall are looked for, without which it
// would not bring back what a dead worker has left.
import Queue from 'bee-queue';

import { main } from './roles.mjs';

const kQueue = 'bench';
const kFaster = { removeOnSuccess: true, sendEvents: false, getEvents: false, storeJobs: false };

await main({
  async producer({ host, port, attempts }) {
    const queue = new Queue(kQueue, { ...kFaster, redis: { host, port }, isWorker: false });
    await queue.ready();
    const job = (data) => queue.createJob(data).retries(attempts - 1);
    return {
      one: (data) => job(data).save(),
      async many(all) {
        const errors = await queue.saveAll(all.map(job));
        if (errors.size > 0) throw [...errors.values()][0];
      },
    };
  },

  async worker({ host, port, concurrency, fails }, ended) {
    const queue = new Queue(kQueue, { ...kFaster, redis: { host, port } });
    const handler = fails ? async () => { throw new Error('connection reset by peer'); } : async () => {};
    queue.on('succeeded', (job) => ended(job.data));
    queue.on('failed', (job) => ended(job.data));
    queue.on('error', (error) => console.error(error));
    await queue.ready();
    return {
      async start() {
        queue.process(concurrency, handler);
        queue.checkStalledJobs(5000);
      },
    };
  },
});
