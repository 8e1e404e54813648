/** Makes purchases in tests that cause failures. */
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

export interface PurchaseInput {
  key: string;
  number: string;
  refId: string;
  heard?: (answer: Answer) => void;
}

/**
 * Sends the purchase once. Returns its id, or null if the outcome is unknown (no response, or a
 * 503).
 */
export async function tryToBuy(asked: PurchaseInput, baseUrl: string): Promise<string | null> {
  const answer = await send(asked, baseUrl);
  return answer && idOf(answer);
}

/**
 * Sends the purchase with the same ref_id until the response is not a 503, as a client must.
 * Returns the id.
 */
export async function buyUntilAnswered(
  { refId = uniqueRef('bought'), ...asked }: Omit<PurchaseInput, 'refId'> & { refId?: string },
  baseUrl: () => string,
): Promise<string> {
  return idOf(await eventually('no 503', () => send({ ...asked, refId }, baseUrl()), 60_000));
}

/** Repeats a call until the response is not a 503, as a client must. */
export function repeatUntilAnswered(call: () => Promise<Answer>): Promise<Answer> {
  return eventually(
    'no 503',
    async () => {
      const answer = await call();
      return answer.status === 503 ? null : answer;
    },
    60_000,
  );
}

async function send({ key, number, refId, heard }: PurchaseInput, baseUrl: string): Promise<Answer | null> {
  const body = { code: 'S10', customer_number: number, ref_id: refId };
  const answer: Answer | null = await apiClient(baseUrl, key)
    .post('/api/buyer/transaction', body)
    .catch(() => null);
  if (answer) {
    heard?.(answer);
  }
  return answer && answer.status !== 503 ? answer : null;
}

function idOf({ status, body }: Answer): string {
  expect(status, JSON.stringify(body)).to.equal(200);
  return body.data.transaction_id as string;
}

export async function waitUntilAllFinal({ db }: Stack, limitMs: number): Promise<void> {
  const transactions = db.collection<{ _id: string; status: string }>('transactions');
  const open = { status: { $in: ['PENDING', 'PROCESSING'] } };
  await eventually(
    'every purchase is final',
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

/** Expects that the provider executed each successful purchase once, and no other purchase. */
export async function expectExecutionsToMatch({ db, simulator }: Stack): Promise<void> {
  const succeeded = await db
    .collection<{ _id: string }>('transactions')
    .find({ status: 'SUCCESS' })
    .map((each) => each._id)
    .toArray();
  const executed = (await simulator.log()).map((row) => row.ref_id.replace(/-\d+$/, ''));
  expect(executed, 'executed orders').to.have.length(new Set(executed).size);
  expect(executed.sort()).to.deep.equal(succeeded.sort());
}
