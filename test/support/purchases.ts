/** What tests that break things on the way say about many purchases. */
import { expect } from 'chai';
import { apiClient, uniqueRef, type Answer } from './api-client.js';
import { eventually } from './eventually.js';
import type { Stack } from './stack.js';

export async function inParallel<T>(
  items: T[],
  workers: number,
  run: (item: T) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  await Promise.all(
    Array.from({ length: workers }, async () => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
        await run(item);
      }
    }),
  );
}

/** Buys as a client must: who hears nothing, or 503, sends the same ref_id again until there is an answer. */
export async function buyUntilAnswered(
  { key, number, heard }: { key: string; number: string; heard?: (answer: Answer) => void },
  baseUrl: () => string,
): Promise<string> {
  const body = { code: 'S10', customer_number: number, ref_id: uniqueRef('bought') };
  const answer = await eventually(
    'an answer',
    async () => {
      const got: Answer | null = await apiClient(baseUrl(), key)
        .post('/api/buyer/transaction', body)
        .catch(() => null);
      if (got !== null) {
        heard?.(got);
      }
      return got && got.status !== 503 ? got : null;
    },
    60_000,
  );
  expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
  return answer.body.data.transaction_id as string;
}

export async function everyPurchaseFinal({ db }: Stack, limitMs: number): Promise<void> {
  const transactions = db.collection<{ _id: string; status: string }>('transactions');
  const open = { status: { $in: ['PENDING', 'PROCESSING'] } };
  await eventually(
    'every purchase to be final',
    async () => {
      const some = await transactions.find(open, { limit: 2 }).toArray();
      if (some.length > 0) {
        throw new Error(
          `${await transactions.countDocuments(open)} are open, such as ${JSON.stringify(some)}`,
        );
      }
      return true;
    },
    limitMs,
  );
}

/** The provider executed each success once, and nothing else. */
export async function expectExecutionsToMatch({ db, simulator }: Stack): Promise<void> {
  const succeeded = await db
    .collection<{ _id: string }>('transactions')
    .find({ status: 'SUCCESS' })
    .map((each) => each._id)
    .toArray();
  const executed = (await simulator.log()).map((row) => row.ref_id.replace(/-\d+$/, ''));
  expect(executed, 'no order executed twice').to.have.length(new Set(executed).size);
  expect(executed.sort()).to.deep.equal(succeeded.sort());
}
