/**
 * The number of statements that many receivers cause, counted between real processes and their
 * database.
 */
import { expect } from 'chai';
import { openQueue } from '../../src/jobs/queues.js';
import { newId } from '../../src/shared/ids.js';
import { deliverDueJob } from '../../src/webhooks/deliver/delivery-jobs.js';
import { deliveries, type Delivery } from '../../src/webhooks/deliver/delivery.model.js';
import { buildDelivery } from '../../src/webhooks/new-delivery.js';
import { eventually } from '../support/eventually.js';
import { inParallel } from '../support/purchases.js';
import { sizes } from '../support/sizes.js';
import { startProgram, type RunningProgram } from '../support/start-program.js';
import { startStatementTap, type SentCommand, type StatementTap } from '../support/statement-tap.js';
import { newAccount } from './support/accounts.js';
import { useDatabase } from './support/database.js';
import { startReceiver, type TestReceiver } from './support/receiver.js';

const { accounts: accountCount, limitMs } = sizes.sweep;
const receiversEach = 10;
const receiverCount = accountCount * receiversEach;
/** The number of additional rows for one of the receivers. */
const manyRows = 3_000;

describe(`${receiverCount.toLocaleString('en')} due receivers`, function () {
  this.timeout(limitMs);
  useDatabase();
  const workers: RunningProgram[] = [];
  let tap: StatementTap;
  let receiver: TestReceiver;

  before(async () => {
    [tap, receiver] = await Promise.all([
      startStatementTap(process.env['MONGODB_URI'] ?? ''),
      startReceiver(),
    ]);
  });
  after(async () => {
    await Promise.all(workers.map((worker) => worker.stop()));
    await Promise.all([tap.stop(), receiver.close()]);
  });

  async function start(kind: string): Promise<void> {
    const env = { ...process.env, MONGODB_URI: tap.uri, LOG_LEVEL: 'error' };
    workers.push(await startProgram('workers/run.js', [kind], env));
  }

  function row(accountId: string, path: string): Delivery {
    return buildDelivery({
      id: newId(),
      accountId,
      channel: 'webhook',
      url: `${receiver.url}/${path}`,
      event: 'transaction.success',
      payload: {},
    });
  }

  const ofReceivers = (sent: readonly SentCommand[]) =>
    sent.filter(({ collection }) => collection === 'deliveries' || collection === 'webhookReceivers');

  it('are found and served with few statements, even with thousands of rows for one', async () => {
    const accounts: Awaited<ReturnType<typeof newAccount>>[] = [];
    await inParallel(
      Array.from({ length: accountCount }, (_, index) => index),
      20,
      async () => {
        accounts.push(await newAccount());
      },
    );
    const rows = accounts.flatMap(({ account }) =>
      Array.from({ length: receiversEach }, (_each, index) => row(account._id, `hook-${index}`)),
    );
    const crowded = accounts[accountCount / 2]?.account._id ?? '';
    const more = Array.from({ length: manyRows }, () => row(crowded, 'hook-5'));
    await deliveries.insertMany([...rows, ...more]);

    await start('follow-up');
    const queue = openQueue(deliverDueJob.queue);
    await eventually(
      'a turn for each receiver',
      async () => (await queue.getWaitingCount()) >= receiverCount,
      limitMs / 4,
    );
    const finding = ofReceivers(tap.sent).length;
    // One sweep handles 2,000 receivers, and the next sweep may already have started.
    expect(finding, 'statements that find them').to.be.within(1, 40 * Math.ceil(receiverCount / 2_000));

    await deliveries.deleteMany({ _id: { $in: more.map(({ _id }) => _id) } });
    const from = tap.sent.length;
    await start('webhooks');
    await eventually(
      'all deliveries arrive',
      async () => (await deliveries.findOne({ state: 'due' })) === null,
      limitMs / 2,
    );
    expect(receiver.received).to.have.length(receiverCount);
    const delivered = await deliveries
      .find({ _id: { $in: rows.map(({ _id }) => _id) }, state: 'delivered' })
      .toArray();
    expect(new Set(delivered.map(({ receiverId }) => receiverId)).size, 'receivers').to.equal(receiverCount);
    const serving = ofReceivers(tap.sent.slice(from)).length;
    // eslint-disable-next-line no-console -- the figures are what this test is for
    console.log(`      ${finding} statements to find them, ${serving} to serve them`);
    expect(serving, 'statements that serve them').to.be.below(receiverCount / 4);
  });
});
