/**
 * The calls and answers of a history's clients, in memory: the model that the database must match.
 */
import { eventually } from '../../support/eventually.js';
import type { CalledService, Heard } from './called-service.js';

/** A creating call of a client and its final answer. */
export interface Asked {
  collection: 'deposits' | 'transactions' | 'settlements' | 'adjustments';
  accountId: string;
  /**
   * Identifies the document: the client's ref_id, the bank account if there is none, or an
   * operator's reason.
   */
  name: { refId: string } | { 'bankAccount.accountNumber': string } | { reason: string };
  /** Rupiah added to the wallet. */
  change: number;
  /** The quote that it pays. */
  quoteId: string | null;
  /**
   * `accepted`, `insufficient` and `conflict` are definite. `nothing`: the client stopped after an
   * answer that nothing was written. `unknown`: the client stopped without a definite answer.
   */
  heard: 'accepted' | 'insufficient' | 'conflict' | 'nothing' | 'unknown';
  id: string | null;
  /** Start and end of the answered call. Clients and processes share one clock. */
  fromMs: number;
  toMs: number;
}

/** A status that a client received for an accepted document. */
export interface Told {
  collection: 'transactions' | 'settlements' | 'adjustments';
  id: string;
  status: string;
}

/** The root of a closed day that a process returned. */
export interface ToldClose {
  day: string;
  root: string;
}

export interface Book {
  buyers: [string, string];
  seller: string;
  quotes: { _id: string; accountId: string; amount: number }[];
  asked: Asked[];
  receivedStatuses: Told[];
  closed: ToldClose[];
  /** Approvals of large adjustments that were refused because the balance did not cover them. */
  uncovered: Pick<Asked, 'accountId' | 'change' | 'fromMs' | 'toMs'>[];
  /** Returns a name that no other client uses. */
  newName(): string;
}

/** The processes that clients call. */
export interface Fleet {
  /** Returns this process, or the next running one in turn. */
  process(number: number): Promise<CalledService>;
  /** Kills the process and starts another one in its place. */
  kill(number: number): Promise<void>;
}

/** A client's time limit in milliseconds. No call may stay unanswered longer. */
const answeredWithinMs = 60_000;

/**
 * Repeats a call at one process after the other until it gets a definite answer.
 * @throws Error with the last answer if none comes.
 */
export async function callUntilDefinite<T>(
  { fleet, first }: { fleet: Fleet; first: number },
  ask: (service: CalledService) => Promise<Heard<T>>,
  withinMs = answeredWithinMs,
): Promise<{ heard: Heard<T>; fromMs: number; toMs: number; attempts: number }> {
  let attempt = first;
  return eventually(
    'a definite answer',
    async () => {
      const service = await fleet.process(attempt++);
      const fromMs = Date.now();
      const answer = await ask(service);
      if (!answer.ok && answer.refusal !== 'insufficient' && answer.refusal !== 'conflict') {
        throw new Error(`${answer.refusal}: ${answer.message}`);
      }
      return { heard: answer, fromMs, toMs: Date.now(), attempts: attempt - first };
    },
    withinMs,
  );
}
