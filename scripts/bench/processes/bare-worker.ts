/**
 * Yardstick for the pipeline: a BullMQ worker that orders at the simulator, writes the outcome in
 * one driver transaction and notifies the receiver. It has no order rows, retries or webhook
 * signatures.
 */
import { createHash, randomUUID } from 'node:crypto';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { Long } from 'mongodb';
import { Agent, request } from 'undici';
import { inBareTransaction } from './bare-server.js';
import { openBareShop, type BareShop } from './bare-shop.js';
import { customerNumber, product } from '../support/bench-product.js';

const concurrency = 50;

export async function runBareWorker(args: string[]): Promise<void> {
  const [, prefix = '', , simulatorUrl = '', inboxUrl = ''] = args;
  const shop = await openBareShop(args, { fresh: false });
  const dispatcher = new Agent({ connections: concurrency });
  const connection = new Redis(process.env['REDIS_URL'] ?? '', { maxRetriesPerRequest: null });
  const run = async (id: string) => {
    const order = await request(`${simulatorUrl}/request?${orderOf(id)}`, { dispatcher });
    const { sn } = (await order.body.json()) as { sn: string };
    await inBareTransaction(shop, (session) => completePurchase(shop, { id, sn, session }));
    const response = await request(`${inboxUrl}/hooks/bare`, {
      method: 'POST',
      dispatcher,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ event: 'transaction.success', data: { ref_id: id, transaction_id: id, sn } }),
    });
    await response.body.dump();
    await shop.transactions.updateOne({ _id: id }, { $set: { delivered: true } });
  };
  const worker = new Worker<{ transactionId: string }>('fulfilment', ({ data }) => run(data.transactionId), {
    connection,
    prefix,
    concurrency,
  });
  worker.on('failed', (_job, error) => console.error(error));
  process.channel?.ref();
  process.send?.({ ready: true });
  process.on('SIGTERM', () => process.exit(0));
}

function orderOf(id: string): string {
  const username = 'bare';
  const order = { username, code: product.code, customer: customerNumber, ref_id: id };
  const sign = createHash('md5').update(`${username}simulator-secret${id}`).digest('hex');
  return new URLSearchParams({ ...order, sign }).toString();
}

async function completePurchase(
  { transactions, journals }: BareShop,
  {
    id,
    sn,
    session,
  }: { id: string; sn: string; session: Parameters<Parameters<typeof inBareTransaction>[1]>[0] },
): Promise<void> {
  const at = new Date();
  const set = {
    status: 'SUCCESS',
    serialNumber: sn,
    version: 2,
    nextActionAt: null,
    updatedAt: at,
    finalAt: at,
  };
  await transactions.updateOne({ _id: id, status: 'PENDING' }, { $set: set }, { session });
  const price = Long.fromNumber(product.price);
  const journal = {
    _id: randomUUID(),
    kind: 'success',
    subjectId: id,
    createdAt: at,
    lines: [
      { account: 'platform:suspense', amount: price.negate() },
      { account: 'payable:seller', amount: price },
    ],
  };
  await journals.insertOne(journal, { session });
}
