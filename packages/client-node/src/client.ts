/**
 * A client for the wallet, buyer and seller calls. `npm run generate` writes schema.ts and calls.ts
 * from the OpenAPI document of the service. The other modules add retries (call.ts) and iterators
 * over complete lists (lists.ts).
 */
import { setTimeout as wait } from 'node:timers/promises';
import { createCall, type ClientOptions } from './call.js';
import { createLists } from './lists.js';
import { requireRefId } from './ref-id.js';
import type { components } from './schema.js';

export type { ClientOptions, Data, Input, OperationId } from './call.js';
export { OutcomeUnknownError, TopupError, type FailureReason } from './errors.js';

type Schemas = components['schemas'];
export type Transaction = Schemas['Transaction'];
export type Deposit = Schemas['Deposit'];
export type Payment = Schemas['Payment'];
export type Order = Schemas['CreateBuyerTransactionRequest'];

export type Client = ReturnType<typeof createClient>;

export function createClient(options: ClientOptions) {
  const { call, download } = createCall(options);

  /**
   * Buys a prepaid product. A call that is repeated with the same ref_id does not buy again. Create
   * one ref_id for each order and store it before the first call.
   */
  function buy(order: Order): Promise<Transaction> {
    requireRefId(order);
    return call('createBuyerTransaction', { body: order });
  }

  /** Pays a bill. A call that is repeated with the same ref_id does not pay again. */
  function pay(order: Order): Promise<Payment> {
    requireRefId(order);
    return call('createPayment', { body: order });
  }

  /** Deposits money. A call that is repeated with the same ref_id does not deposit again. */
  function deposit(body: Schemas['CreateDepositRequest']): Promise<Deposit> {
    requireRefId(body);
    return call('createDeposit', { body });
  }

  /**
   * Polls a transaction until it is final, in case the webhook does not arrive.
   * @returns the final transaction, or its current state when the time limit ends.
   */
  async function waitForResult(
    refId: string,
    { timeoutMs = 60_000, everyMs = 2_000 } = {},
  ): Promise<Transaction> {
    requireRefId({ ref_id: refId });
    const endsAt = Date.now() + timeoutMs;
    for (;;) {
      const found = await call('getBuyerTransaction', { path: { ref: refId } });
      if (found.status === 'success' || found.status === 'failed' || Date.now() + everyMs > endsAt) {
        return found;
      }
      await wait(everyMs, undefined, { signal: options.signal });
    }
  }

  return { call, download, buy, pay, deposit, waitForResult, ...createLists(call) };
}
