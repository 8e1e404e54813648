/** What the clients of a history ask for and hear, kept in memory: the simple model that the database must agree with. */
import { eventually } from '../../support/eventually.js';
import type { CalledService, Heard } from './called-service.js';

/** Something new that a client asked for, and what it heard at last. */
export interface Asked {
  collection: 'deposits' | 'transactions' | 'settlements' | 'adjustments';
  accountId: string;
  /** What its document is found by: the client's ref_id, or the bank account where it gave none; an operator's reason. */
  name: { refId: string } | { 'bankAccount.accountNumber': string } | { reason: string };
  /** Rupiah that it adds to the wallet. */
  change: number;
  /** A bill that it pays. */
  quoteId: string | null;
  /**
   * `accepted`, `insufficient` and `conflict` are definite. `nothing`: the client went away after it was told that
   * nothing had been written. `unknown`: it went away without an answer.
   */
  heard: 'accepted' | 'insufficient' | 'conflict' | 'nothing' | 'unknown';
  id: string | null;
  /** While the call was under way that was answered; of the client's clock, which is the processes' as well. */
  fromMs: number;
  toMs: number;
}

/** A status that a client was told of: what has become of something that was accepted. */
export interface Told {
  collection: 'transactions' | 'settlements' | 'adjustments';
  id: string;
  status: string;
}

/** The root of a closed day that a process has told. */
export interface ToldClose {
  day: string;
  root: string;
}

export interface Book {
  buyers: [string, string];
  seller: string;
  quotes: { _id: string; accountId: string; amount: number }[];
  asked: Asked[];
  told: Told[];
  closed: ToldClose[];
  /** Large adjustments that were approved, and refused because the balance did not cover them. */
  uncovered: Pick<Asked, 'accountId' | 'change' | 'fromMs' | 'toMs'>[];
  /** A name that no other client has given. */
  newName(): string;
}

/** The processes that clients talk to. */
export interface Fleet {
  /** The process of this number, or the next one after it: all of them in turn. */
  process(number: number): Promise<CalledService>;
  /** Kills it, and has another one started in its place. */
  kill(number: number): Promise<void>;
}

/** A client gives up after this: nothing may stay unanswered for so long, whatever happens. */
const answeredWithinMs = 60_000;

/**
 * Asks as a client should: until there is a definite answer it says the same again, to one process after the other.
 * @throws Error if none comes, with the last thing heard.
 */
export async function untilDefinite<T>(
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
      const heard = await ask(service);
      if (!heard.ok && heard.refusal !== 'insufficient' && heard.refusal !== 'conflict') {
        throw new Error(`${heard.refusal}: ${heard.message}`);
      }
      return { heard, fromMs, toMs: Date.now(), attempts: attempt - first };
    },
    withinMs,
  );
}
