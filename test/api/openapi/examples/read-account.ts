import { eventually } from '../../../support/eventually.js';
import type { Recorder } from './recorder.js';

/**
 * A refused call for each role. Failed calls have their own limit per minute in the log, so many
 * successful calls do not displace them.
 */
const refused = {
  buyer: { query: 'failed=true&ref_id=reseller-0004', reason: 'invalid_customer_number' },
  seller: { query: 'failed=true', reason: 'product_code_taken' },
};

/** Looks up a refused call in the account's request log. */
export async function readRequests(
  recorder: Recorder,
  { role, key }: { role: 'buyer' | 'seller'; key: string },
): Promise<void> {
  const read = (name: string, query: string) =>
    recorder.play(name, { method: 'GET', path: `/api/${role}/requests?limit=1&${query}`, key });
  const { query, reason } = refused[role];
  await eventually(`the log has the call refused for ${reason}`, async () => {
    const { body } = await read('one', query);
    return body.data.requests[0]?.reason === reason;
  });
  for (const filter of ['failed=true', 'ref_id=order-20240301-0001']) {
    await read('none', `${filter}&cursor=1-${'0'.repeat(32)}`);
  }
}

/** Requests a page of the statement, and the statement as a file. */
export async function readStatement(
  recorder: Recorder,
  { role, key }: { role: 'buyer' | 'seller'; key: string },
): Promise<void> {
  const path = `/api/${role}/statement`;
  await recorder.play('first page', { method: 'GET', path: `${path}?limit=2`, key });
  await recorder.play('with Accept: text/csv', { method: 'GET', path, key, headers: { accept: 'text/csv' } });
}
