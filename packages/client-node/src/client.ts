/**
 * A client of the wallet, buyer and seller calls. What is called, and with what, is typed by the service's own OpenAPI
 * document (schema.ts and calls.ts, written by `npm run generate`); this package adds what a document cannot say: which calls may be repeated
 * (call.ts), and how lists are read to their end (lists.ts).
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
   * Buys a prepaid product. However often it is called with one ref_id, it is bought once: make the ref_id once for an order,
   * and store it before the first call.
   */
  function buy(order: Order): Promise<Transaction> {
    requireRefId(order);
    return call('createBuyerTransaction', { body: order });
  }

  /** Pays a bill, once for its ref_id. */
  function pay(order: Order): Promise<Payment> {
    requireRefId(order);
    return call('createPayment', { body: order });
  }

  /** Deposits, once for its ref_id. */
  function deposit(body: Schemas['CreateDepositRequest']): Promise<Deposit> {
    requireRefId(body);
    return call('createDeposit', { body });
  }

  /** Asks until a transaction is final; for when no webhook came. @returns it as it is when the time is over. */
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
