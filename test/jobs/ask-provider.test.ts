import { expect } from 'chai';
import { addJob } from '../../src/jobs/add-job.js';
import { handle } from '../../src/jobs/define-job.js';
import { openQueue } from '../../src/jobs/queues.js';
import { startWorkers } from '../../src/jobs/start-workers.js';
import { askProviderJob } from '../../src/purchases/fulfil/fulfilment-jobs.js';
import { newId } from '../../src/shared/ids.js';
import { eventually } from '../support/eventually.js';
import { useDatabase } from '../webhooks/support/database.js';

describe('status checks at a provider', () => {
  useDatabase();

  it('a callback during a check triggers another check before the next planned one', async () => {
    const purchaseId = newId();
    const asked: boolean[] = [];
    let end = (): void => undefined;
    const underWay = new Promise<void>((resolve) => (end = resolve));
    const workers = startWorkers([
      handle(askProviderJob, async ({ askNow }) => {
        asked.push(askNow);
        await (askNow ? undefined : underWay);
      }),
    ]);
    try {
      await addJob(askProviderJob, { purchaseId, accountId: 'buyer', askNow: false });
      await eventually('the scheduled check', () => asked.length === 1);
      await addJob(askProviderJob, { purchaseId, accountId: 'buyer', askNow: true });
      // Add the next delayed job, as a scheduled check does when it ends.
      await addJob(askProviderJob, { purchaseId, accountId: 'buyer', askNow: false }, { delayMs: 3_600_000 });
      end();
      await eventually('the check after the callback', () => asked.includes(true), 5_000);
      const queue = openQueue(askProviderJob.queue);
      await eventually('the next check is planned', async () => (await queue.getDelayedCount()) === 1);
      expect(asked).to.deep.equal([false, true]);
    } finally {
      await workers.close();
    }
  });
});
