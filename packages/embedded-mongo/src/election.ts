import { Long, ObjectId } from 'bson';
import { MongoError } from './errors.js';
import { isDoc, type Doc } from './values/types.js';

/** Whether the only member of the set is its primary, and since which election. */
export interface Election {
  /**
   * Number of the newest election that it won. Counted from the clock at the start, so that a restarted server's is
   * above what drivers remember of the one before: they don't take an older one for the primary.
   */
  term: number;
  isPrimary: boolean;
  /** Grows with every change of the above (`topologyVersion.counter`). */
  version: number;
  /** Called at the next change. */
  readonly waiting: Set<() => void>;
}

export function createElection(): Election {
  return { term: secondsNow(), isPrimary: true, version: 1, waiting: new Set() };
}

/** It is no primary for so long, and then wins an election. Does nothing if it is none already. */
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

/** Resolves when the member's state is another than at this version, or after the time. */
export function changeSince(
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

/** The id by which drivers tell a primary from an older one that has not noticed. */
export function electionIdOf({ term }: Election): ObjectId {
  return new ObjectId(`7fffffff${term.toString(16).padStart(16, '0')}`);
}

export function termOf({ term }: Election): Long {
  return Long.fromNumber(term);
}

/**
 * Throws what a member that is no primary says to this command, as one that has stepped down does: its connections stay
 * open, and reads that don't insist on the primary go on.
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

/** Throws if the member has stepped down since this version: whether the command took effect is not said. */
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
