/**
 * The operations of clients, workers and operators in a history. Add new kinds of movements here.
 */
import fc from 'fast-check';
import type { CalledService, CallOutcome } from './called-service.js';
import { callUntilDefinite, type RequestedMovement, type Book, type Fleet } from './book.js';

interface Operation<I> {
  /** Relative frequency of the operation. */
  weight: number;
  input: fc.Arbitrary<I>;
  /**
   * Runs the operation and records its result in the book.
   * @param at.first The number of the process that is called first.
   */
  run(at: { book: Book; fleet: Fleet; first: number }, input: I): Promise<void>;
}

/**
 * Prices in rupiah. They are chosen relative to the deposits, so that the balance covers some
 * purchases and not others.
 */
const price = fc.integer({ min: 1, max: 40 }).map((thousands) => thousands * 1_000);
/** Amount in rupiah from which an adjustment needs approval. The processes get it as a setting. */
export const approvalThreshold = 25_000;
const who = fc.integer({ min: 0, max: 1 }) as fc.Arbitrary<0 | 1>;
/** An index into the existing documents, taken modulo their number. */
const which = fc.nat({ max: 1_000 });
/**
 * Time limit of a close in milliseconds. A close reads every wallet of all histories, so it may
 * take longer than a client would wait.
 */
const closeTimeoutMs = 60_000;
/** Whether the client stops if its first result is not definite. */
const clientLeaves = fc.boolean();

function operation<I>(given: Operation<I>): Operation<I> {
  return given;
}

export const operations = {
  deposit: operation({
    weight: 4,
    input: fc.record({ who, amount: price, leaves: clientLeaves }),
    async run({ book, ...at }, { who, amount, leaves }) {
      const accountId = book.buyers[who];
      const refId = book.newName();
      const ask = (service: CalledService) => service.call('deposit', { accountId, amount, refId });
      const wanted = { collection: 'deposits' as const, accountId, name: { refId }, change: amount };
      book.asked.push({ ...wanted, quoteId: null, ...(await (leaves ? once : callRepeatedly)(at, ask)) });
    },
  }),

  purchase: operation({
    weight: 6,
    input: fc.record({ who, price }),
    run: (at, { who, price }) => buy(at, { accountId: at.book.buyers[who], price, quoteId: null }),
  }),

  payment: operation({
    weight: 4,
    input: fc.record({ which }),
    async run(at, { which }) {
      const quote = pick(at.book.quotes, which);
      if (quote) {
        await buy(at, { accountId: quote.accountId, price: quote.amount, quoteId: quote._id });
      }
    },
  }),

  /** Concludes an order. The provider reports success or a definite refusal, which is refunded. */
  conclusion: operation({
    weight: 6,
    input: fc.record({ which, as: fc.constantFrom('success' as const, 'failed' as const) }),
    async run({ book, ...at }, { which, as }) {
      const id = pick(accepted(book, 'transactions'), which)?.id;
      if (id) {
        const input = { purchaseId: id, sellerId: book.seller, as };
        await recordStatus(
          book,
          'transactions',
          id,
          callUntilDefinite(at, (service) => service.call('conclude', input)),
        );
      }
    },
  }),

  reversal: operation({
    weight: 2,
    input: fc.record({ which }),
    async run({ book, ...at }, { which }) {
      const id = pick(accepted(book, 'transactions'), which)?.id;
      if (id) {
        const asked = callUntilDefinite(at, (service) => service.call('reverse', { purchaseId: id }));
        await recordStatus(book, 'transactions', id, asked);
      }
    },
  }),

  sellerPosting: operation({
    weight: 3,
    input: fc.record({}),
    async run({ book, ...at }) {
      await callUntilDefinite(at, (service) => service.call('postCredits', { sellerId: book.seller }));
    },
  }),

  settlement: operation({
    weight: 4,
    input: fc.record({ amount: price, named: fc.boolean() }),
    async run({ book, ...at }, { amount, named }) {
      const [mark, refId] = [book.newName(), named ? book.newName() : null];
      const input = { sellerId: book.seller, amount, refId, mark };
      const ask = (service: CalledService) => service.call('settle', input);
      book.asked.push({
        collection: 'settlements',
        accountId: book.seller,
        change: -amount,
        quoteId: null,
        name: refId === null ? { 'bankAccount.accountNumber': mark } : { refId },
        // Without a ref_id, a repeated call would create another settlement. The client must look
        // it up first.
        ...(await (named ? callRepeatedly : once)(at, ask)),
      });
    },
  }),

  settlementEnd: operation({
    weight: 3,
    input: fc.record({
      which,
      as: fc.constantFrom('completed' as const, 'failed' as const, 'paid-out' as const),
    }),
    async run({ book, ...at }, { which, as }) {
      const settlementId = pick(accepted(book, 'settlements'), which)?.id;
      if (settlementId) {
        const asked = callUntilDefinite(at, (service) => service.call('finish', { settlementId, as }));
        await recordStatus(book, 'settlements', settlementId, asked);
      }
    },
  }),

  /**
   * A manual adjustment of a buyer or of the seller. It has no idempotency key, so the operator
   * looks it up before a repeat.
   */
  adjustment: operation({
    weight: 4,
    input: fc.record({ whose: fc.integer({ min: 0, max: 2 }), amount: price, isDebit: fc.boolean() }),
    async run({ book, ...at }, { whose, amount, isDebit }) {
      const accountId = book.buyers[whose] ?? book.seller;
      const [change, mark] = [isDebit ? -amount : amount, book.newName()];
      const ask = (service: CalledService) => service.call('adjust', { accountId, amount: change, mark });
      const { heard, ...outcome } = await once(at, ask);
      book.asked.push({
        collection: 'adjustments',
        accountId,
        name: { reason: mark },
        change,
        quoteId: null,
        ...outcome,
        // The id is new, so only an insufficient balance can cause a conflict.
        heard: heard === 'conflict' ? 'insufficient' : heard,
      });
    },
  }),

  adjustmentEnd: operation({
    weight: 3,
    input: fc.record({
      which,
      as: fc.constantFrom('completed' as const, 'completed' as const, 'rejected' as const),
    }),
    async run({ book, ...at }, { which, as }) {
      const waiting = accepted(book, 'adjustments').filter(
        ({ change }) => Math.abs(change) >= approvalThreshold,
      );
      const { id, accountId, change } = pick(waiting, which) ?? { id: null };
      if (id) {
        const asked = callUntilDefinite(at, (service) => service.call('decideAdjustment', { id, as }));
        await recordStatus(book, 'adjustments', id, asked);
        const { heard, fromMs, toMs } = await asked;
        if (!heard.ok) {
          book.uncovered.push({ accountId, change, fromMs, toMs });
        }
      }
    },
  }),

  /** Closes a day while other operations are running. */
  close: operation({
    weight: 1,
    input: fc.record({}),
    async run({ book, ...at }) {
      const ask = (service: CalledService) => service.call('close', undefined, closeTimeoutMs);
      const { heard } = await callUntilDefinite(at, ask, 3 * closeTimeoutMs);
      if (heard.ok) {
        book.closed.push(heard.value);
      }
    },
  }),
};

type Name = keyof typeof operations;
export interface Step {
  operation: Name;
  input: unknown;
  process: number;
}

/**
 * Generates a history: the steps of each concurrent client. Postings of clients that use one
 * process can share a group. Those of clients at different processes conflict in the database.
 */
export function histories(shape: {
  clients: number;
  processes: number[];
  stepsMax: number;
}): fc.Arbitrary<Step[][]> {
  const names = Object.keys(operations) as Name[];
  const step = fc.oneof(
    ...names.map((name) => ({
      weight: operations[name].weight,
      arbitrary: fc.record({
        operation: fc.constant(name),
        input: operations[name].input as fc.Arbitrary<unknown>,
        process: fc.nat({ max: 11 }),
      }),
    })),
  );
  const { clients, processes, stepsMax } = shape;
  const ofClients = fc.array(fc.array(step, { minLength: 1, maxLength: stepsMax, size: 'max' }), {
    minLength: clients,
    maxLength: clients,
  });
  return fc
    .tuple(fc.constantFrom(...processes), ofClients)
    .map(([used, all]) =>
      all.map((steps) => steps.map((each) => ({ ...each, process: each.process % used }))),
    );
}

export async function takeStep(at: { book: Book; fleet: Fleet }, step: Step): Promise<void> {
  const operation = operations[step.operation] as Operation<unknown>;
  await operation.run({ ...at, first: step.process }, step.input);
}

async function buy(
  { book, ...at }: { book: Book; fleet: Fleet; first: number },
  { accountId, price, quoteId }: { accountId: string; price: number; quoteId: string | null },
): Promise<void> {
  const refId = book.newName();
  const input = { accountId, refId, price, sellerId: book.seller, quoteId };
  const outcome = await callRepeatedly(at, (service) => service.call('buy', input));
  book.asked.push({
    collection: 'transactions',
    accountId,
    name: { refId },
    change: -price,
    quoteId,
    ...outcome,
  });
}

type Outcome = Pick<RequestedMovement, 'heard' | 'id' | 'fromMs' | 'toMs'>;
type Ask = (service: CalledService) => Promise<CallOutcome<{ id: string }>>;

async function callRepeatedly(at: { fleet: Fleet; first: number }, ask: Ask): Promise<Outcome> {
  const { heard, ...times } = await callUntilDefinite(at, ask);
  return { ...outcomeOf(heard), ...times };
}

async function once({ fleet, first }: { fleet: Fleet; first: number }, ask: Ask): Promise<Outcome> {
  const service = await fleet.process(first);
  const fromMs = Date.now();
  const answer = await ask(service);
  return { ...outcomeOf(answer), fromMs, toMs: Date.now() };
}

function outcomeOf(answer: CallOutcome<{ id: string }>): Pick<RequestedMovement, 'heard' | 'id'> {
  if (answer.ok) {
    return { heard: 'accepted', id: answer.value.id };
  }
  switch (answer.refusal) {
    case 'insufficient':
    case 'conflict':
      return { heard: answer.refusal, id: null };
    case 'nothing-written':
      return { heard: 'nothing', id: null };
    default:
      return { heard: 'unknown', id: null };
  }
}

async function recordStatus(
  book: Book,
  collection: 'transactions' | 'settlements' | 'adjustments',
  id: string,
  asked: Promise<{ heard: CallOutcome<string> }>,
): Promise<void> {
  const { heard } = await asked;
  if (heard.ok) {
    book.receivedStatuses.push({ collection, id, status: heard.value });
  }
}

function accepted(book: Book, collection: RequestedMovement['collection']): RequestedMovement[] {
  return book.asked.filter((each) => each.collection === collection && each.heard === 'accepted');
}

function pick<T>(all: T[], which: number): T | undefined {
  return all[which % all.length];
}
