import { Long, ObjectId } from 'bson';
import { MongoError } from './errors.js';
import { isDoc, type Doc } from './values/types.js';

/** The primary state of the only member of the set. */
export interface Election {
  /**
   * Number of the newest election that it won. It starts from the clock, so that it grows over
   * restarts. Drivers would reject a lower number than the last one they saw.
   */
  term: number;
  isPrimary: boolean;
  /** Incremented with every change of the fields above (`topologyVersion.counter`). */
  version: number;
  /** Called at the next change. */
  readonly waiting: Set<() => void>;
}

export function createElection(): Election {
  return { term: secondsNow(), isPrimary: true, version: 1, waiting: new Set() };
}

/** Stops being primary for this time, then wins an election. Does nothing if it is not primary. */
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

/** Resolves when the state is no longer this version, or when the time limit ends. */
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
    // Unreferenced, so that waiting clients don't keep a stopped server's process alive.
    const timer = setTimeout(done, limitMs).unref();
    election.waiting.add(done);
  });
}

/** The election id. It lets drivers distinguish a new primary from a stale one. */
export function electionIdOf({ term }: Election): ObjectId {
  return new ObjectId(`7fffffff${term.toString(16).padStart(16, '0')}`);
}

export function termOf({ term }: Election): Long {
  return Long.fromNumber(term);
}

/**
 * Throws the error of a member that has stepped down. As in MongoDB, its connections stay open and
 * reads with another read preference continue.
 */
export function refuseUnlessPrimary(
  { isPrimary }: Election,
  { command, writes, reads }: { command: Doc; writes: boolean; reads: boolean },
): void {
  if (isPrimary) {
    return;
  }
  if (writes) {
    throw notPrimary();
  }
  const preference = command['$readPreference'];
  const mode = isDoc(preference) ? (preference['mode'] ?? 'primary') : 'primary';
  if (reads && mode === 'primary') {
    throw new MongoError(13435, 'not primary and secondaryOk=false');
  }
}

export function notPrimary(): MongoError {
  return new MongoError(10107, 'not primary');
}

/** Throws if the member has stepped down since this version. The command may have taken effect. */
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
