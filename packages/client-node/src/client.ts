/**
 * A client of the wallet, buyer and seller calls. What is called, and with what, is typed by the service's own OpenAPI
 * document (schema.ts, calls.ts: generated); this file adds what a document cannot say: which calls may be repeated.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { calls } from './calls.js';
import { OutcomeUnknownError, TopupError } from './errors.js';
import type { components, operations } from './schema.js';
import { send, usual, type SendOptions } from './send.js';

export { OutcomeUnknownError, TopupError, type FailureReason } from './errors.js';

type Schemas = components['schemas'];
export type Transaction = Schemas['Transaction'];
export type Deposit = Schemas['Deposit'];
export type Payment = Schemas['Payment'];
export type Order = Schemas['CreateBuyerTransactionRequest'];

/** Every call that takes a key, by the name that it has in the document. */
export type OperationId = keyof typeof calls;

type Success<Id extends OperationId> = operations[Id]['responses'] extends infer Responses
  ? {
      [Status in keyof Responses]: Status extends 200 | 201 | 202
        ? Responses[Status] extends { content: { 'application/json': infer Body } }
          ? Body
          : never
        : never;
    }[keyof Responses]
  : never;

/** `data` of a success. */
export type Data<Id extends OperationId> = Success<Id> extends { data: infer Found } ? Found : Success<Id>;

type BodyOf<Id extends OperationId> = operations[Id] extends {
  requestBody?: { content: { 'application/json': infer Body } };
}
  ? Body
  : undefined;

/** What a call takes. */
export interface Input<Id extends OperationId> {
  body?: BodyOf<Id>;
  path?: operations[Id]['parameters']['path'];
  query?: operations[Id]['parameters']['query'];
}

export interface ClientOptions extends Partial<SendOptions> {
  baseUrl: string;
  apiKey: string;
}

export type Client = ReturnType<typeof createClient>;

/** POST that reads. */
const reads = new Set<OperationId>([
  ...(['getBuyerBalance', 'getBuyerPriceList', 'inquireBill', 'listBuyerTransactions'] as const),
  ...(['lookupBuyerTransactions', 'listSellerTransactions'] as const),
]);

export function createClient(options: ClientOptions) {
  const call = createCall(options);

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
    const endsAt = Date.now() + timeoutMs;
    for (;;) {
      const found = await call('getBuyerTransaction', { path: { ref: refId } });
      if (found.status === 'success' || found.status === 'failed' || Date.now() + everyMs > endsAt) {
        return found;
      }
      await wait(everyMs);
    }
  }

  /** Every transaction, newest first, page by page. What is bought meanwhile is not among them: no page moves. */
  async function* transactions(
    filter: Omit<NonNullable<BodyOf<'listBuyerTransactions'>>, 'page'> = {},
  ): AsyncGenerator<Transaction> {
    const body = { limit: 100, end_date: new Date().toISOString(), ...filter };
    for (let page = 1; ; page++) {
      const found = await call('listBuyerTransactions', { body: { ...body, page } });
      yield* found.transactions;
      if (page >= found.pagination.total_pages) {
        return;
      }
    }
  }

  /** Every movement of the wallet, oldest first. */
  async function* statement(
    filter: { start_date?: string; end_date?: string } = {},
  ): AsyncGenerator<Schemas['StatementEntry']> {
    let cursor: string | null = null;
    do {
      const query: { start_date?: string; end_date?: string; cursor?: string } =
        cursor === null ? filter : { cursor };
      const found: Schemas['Statement'] = await call('getBuyerStatement', { query });
      yield* found.entries;
      cursor = found.next_cursor;
    } while (cursor !== null);
  }

  return { call, buy, pay, deposit, waitForResult, transactions, statement };
}

function createCall({ baseUrl, apiKey, ...options }: ClientOptions) {
  const root = baseUrl.replace(/\/+$/, '');

  /**
   * Makes any call, and repeats it where that does the same once.
   * @throws TopupError for a refusal. @throws OutcomeUnknownError where no answer came.
   */
  return async function call<Id extends OperationId>(id: Id, input: Input<Id> = {}): Promise<Data<Id>> {
    const { method, path } = calls[id];
    const refId = refIdOf(input.body);
    const sent = await send(
      `${root}${filled(path, input.path ?? {})}${queryText(input.query ?? {})}`,
      {
        method,
        headers: {
          authorization: `Bearer ${apiKey}`,
          accept: 'application/json',
          ...(input.body !== undefined && { 'content-type': 'application/json' }),
        },
        // The same bytes in every attempt.
        ...(input.body !== undefined && { body: JSON.stringify(input.body) }),
      },
      { ...usual, ...options, isRepeatable: method === 'GET' || refId !== null || reads.has(id) },
    );
    if ('lost' in sent) {
      throw new OutcomeUnknownError(id, refId, sent.lost);
    }
    const { status, body, lostBefore } = sent.answer;
    if (status >= 400) {
      const refusal = new TopupError(status, body as Schemas['Failure']);
      // This attempt made nothing. The one that was lost may have, if it was no read.
      throw lostBefore === null || refId === null ? refusal : new OutcomeUnknownError(id, refId, refusal);
    }
    return (isEnvelope(body) ? body.data : body) as Data<Id>;
  };
}

/** Types are gone when it runs: without a ref_id a repeat would buy again. */
function requireRefId(body: { ref_id: string }): void {
  if (refIdOf(body) === null) {
    throw new TypeError('ref_id is missing: make one for the order and store it before you call');
  }
}

function refIdOf(body: unknown): string | null {
  return typeof body === 'object' &&
    body !== null &&
    'ref_id' in body &&
    typeof body.ref_id === 'string' &&
    body.ref_id !== ''
    ? body.ref_id
    : null;
}

function filled(path: string, values: Record<string, unknown>): string {
  return path.replace(/\{(\w+)\}/g, (_match, name: string) => {
    const value = values[name];
    if (typeof value !== 'string' || value === '') {
      throw new TypeError(`${name} of ${path} is missing`);
    }
    return encodeURIComponent(value);
  });
}

function queryText(values: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) {
      query.set(name, String(value));
    }
  }
  return query.size === 0 ? '' : `?${query.toString()}`;
}

function isEnvelope(body: unknown): body is { data: unknown } {
  return typeof body === 'object' && body !== null && 'data' in body && 'code' in body;
}
