/**
 * A record, in memory, of the clients' calls and their results in one history. It is the model that
 * the database must match.
 */
import { eventually } from '../../support/eventually.js';
import type { CalledService, CallOutcome } from './called-service.js';

/** A client's call that creates a document, and the final result of the call. */
export interface RequestedMovement {
  collection: 'deposits' | 'transactions' | 'settlements' | 'adjustments';
  accountId: string;
  /**
   * Identifies the document by the client's ref_id. Without one, the bank account or the operator's
   * reason identifies it.
   */
  name: { refId: string } | { 'bankAccount.accountNumber': string } | { reason: string };
  /** The change of the wallet balance in rupiah. */
  change: number;
  /** The id of the quote that the purchase pays. Null for any other call. */
  quoteId: string | null;
  /**
   * The result that the client got. `accepted`, `insufficient` and `conflict` are definite.
   * `nothing` means that the client stopped after a response that nothing was written. `unknown`
   * means that it stopped without a definite response.
   */
  heard: 'accepted' | 'insufficient' | 'conflict' | 'nothing' | 'unknown';
  id: string | null;
  /** Start of the call that got the result. Clients and processes use the same clock. */
  fromMs: number;
  /** End of the call that got the result. */
  toMs: number;
}

/** A status of an accepted document, as a client received it. */
export interface ReportedStatus {
  collection: 'transactions' | 'settlements' | 'adjustments';
  id: string;
  status: string;
}

/** The root of a closed day, as returned by a process. */
export interface ReportedClose {
  day: string;
  root: string;
}

export interface Book {
  buyers: [string, string];
  seller: string;
  quotes: { _id: string; accountId: string; amount: number }[];
  asked: RequestedMovement[];
  receivedStatuses: ReportedStatus[];
  closed: ReportedClose[];
  /**
   * Approvals of large adjustments that were refused, because the balance did not cover the amount.
   */
  uncovered: Pick<RequestedMovement, 'accountId' | 'change' | 'fromMs' | 'toMs'>[];
  /** Returns a name that no other client uses. */
  newName(): string;
}

/** The processes that clients call. */
export interface Fleet {
  /** Returns the process with this number. If it is not running, returns the next running one. */
  process(number: number): Promise<CalledService>;
  /** Kills the process and starts another one with the same number. */
  kill(number: number): Promise<void>;
}

/** Time limit of a client in milliseconds. Every call must get a definite result within it. */
const answerTimeoutMs = 60_000;

/**
 * Repeats a call, each time at the next process, until it gets a definite result.
 * @throws Error with the last result if the time limit is reached.
 */
export async function callUntilDefinite<T>(
  { fleet, first }: { fleet: Fleet; first: number },
  ask: (service: CalledService) => Promise<CallOutcome<T>>,
  withinMs = answerTimeoutMs,
): Promise<{ heard: CallOutcome<T>; fromMs: number; toMs: number; attempts: number }> {
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
