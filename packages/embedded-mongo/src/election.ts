import { Long, ObjectId } from 'bson';
import { MongoError } from './errors.js';
import { isDoc, type Doc } from './values/types.js';

/** The election state of the only member of the replica set. */
export interface Election {
  /**
   * The number of the newest election that the server won. It starts with the current time in
   * seconds, so that it also increases across restarts. A driver rejects a primary with a lower
   * number than the last one that it saw.
   */
  term: number;
  isPrimary: boolean;
  /**
   * Incremented with every change of `term` or `isPrimary`. Clients see it as
   * `topologyVersion.counter`.
   */
  version: number;
  /** Functions that are called at the next change. */
  readonly waiting: Set<() => void>;
}

export function createElection(): Election {
  return { term: secondsNow(), isPrimary: true, version: 1, waiting: new Set() };
}

/**
 * Makes the server lose an election. The server wins the next election after `ms` milliseconds.
 * Does nothing if the server is not primary.
 */
export function loseElection(election: Election, ms: number): void {
  if (!election.isPrimary) {
    return;
  }
  change(election, false);
  setTimeout(() => {
    election.term = Math.max(election.term + 1, secondsNow());
    change(election, true);
  }, ms).unref();
}

/** Resolves when the state has changed since `version`, or when the time limit ends. */
export function waitForStateChange(
  election: Election,
  { version, limitMs }: { version: number; limitMs: number },
): Promise<void> {
  if (election.version !== version) {
    return Promise.resolve();
  }
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      election.waiting.delete(done);
      resolve();
    };
    // Unreferenced, because a client that waits must not keep the process of a stopped server
    // alive.
    const timer = setTimeout(done, limitMs).unref();
    election.waiting.add(done);
  });
}

/** Returns the election id. Drivers use it to distinguish a new primary from an old one. */
export function electionIdOf({ term }: Election): ObjectId {
  return new ObjectId(`7fffffff${term.toString(16).padStart(16, '0')}`);
}

export function termOf({ term }: Election): Long {
  return Long.fromNumber(term);
}

/**
 * Throws if the server is not primary. As in MongoDB, connections stay open, and reads with another
 * read preference are still allowed.
 */
export function refuseUnlessPrimary(
  { isPrimary }: Election,
  { command, writes, reads }: { command: Doc; writes: boolean; reads: boolean },
): void {
  if (isPrimary) {
    return;
  }
  if (writes) {
    throw createNotPrimaryError();
  }
  const preference = command['$readPreference'];
  const mode = isDoc(preference) ? (preference['mode'] ?? 'primary') : 'primary';
  if (reads && mode === 'primary') {
    throw new MongoError(13435, 'not primary and secondaryOk=false');
  }
}

export function createNotPrimaryError(): MongoError {
  return new MongoError(10107, 'not primary');
}

/**
 * Throws if the server has lost an election since `version`. The command may have taken effect
 * nevertheless.
 */
export function refuseInterrupted(election: Election, version: number): void {
  if (election.version !== version) {
    throw new MongoError(11602, 'operation was interrupted');
  }
}

function change(election: Election, isPrimary: boolean): void {
  election.isPrimary = isPrimary;
  election.version += 1;
  for (const wake of election.waiting) {
    wake();
  }
}

function secondsNow(): number {
  return Math.floor(Date.now() / 1000);
}
