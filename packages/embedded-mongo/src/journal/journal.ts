import { describeSystemError } from './data-directory-error.js';
import { openJournalFile, type JournalFile } from './journal-file.js';
import type { JournalPosition } from './recover.js';

/**
 * The journal could not be written. Writes that were not acknowledged are lost, so the process must
 * stop serving the data in memory.
 */
export class JournalError extends Error {
  override readonly name = 'JournalError';
}

interface JournalStats {
  /** Bytes of all journals since the newest snapshot. */
  journalBytes: number;
  /** Bytes of the newest snapshot. */
  snapshotBytes: number;
  syncs: number;
  entries: number;
}

export interface Journal {
  /**
   * Adds an entry. Either all entries that are appended without an await between them reach the
   * disk, or none.
   */
  append: (entry: Buffer) => void;
  /**
   * Undefined if all appended entries are on disk. Otherwise a promise that resolves once they are,
   * and rejects with JournalError if writing fails.
   */
  durable: () => Promise<void> | undefined;
  /** Writes all later entries to a new file. Resolves to its generation once the file exists. */
  rotate: () => Promise<number>;
  readonly stats: JournalStats;
  /** Writes the remaining entries and closes the file. */
  close: () => Promise<void>;
}

export interface JournalOptions {
  directory: string;
  /**
   * If false, writes are not synced to disk. They survive a killed process but not a power failure.
   */
  sync: boolean;
  /** Called once, when a write has failed. */
  onFailure: (error: JournalError) => void;
}

interface Deferred {
  promise: Promise<void>;
  resolve: () => void;
  reject: (error: Error) => void;
}

interface Rotation {
  /** Entries that were appended before the rotation and belong in the old file. */
  entries: Buffer[];
  resolve: (generation: number) => void;
  reject: (error: Error) => void;
}

interface State {
  file: JournalFile;
  stats: JournalStats;
  options: JournalOptions;
  pending: Buffer[];
  rotation: Rotation | undefined;
  running: boolean;
  /** The group commit that is being written. */
  inFlight: Deferred | undefined;
  /** The group commit that collects new entries. */
  next: Deferred | undefined;
  failure: JournalError | undefined;
}

/** Opens the journal. New entries are appended at the position where recovery ended. */
export function openJournal(options: JournalOptions, position: JournalPosition): Journal {
  const { journalBytes, snapshotBytes } = position;
  const state: State = {
    file: openJournalFile(options.directory, options.sync, position),
    stats: { journalBytes, snapshotBytes, syncs: 0, entries: 0 },
    options,
    pending: [],
    rotation: undefined,
    running: false,
    inFlight: undefined,
    next: undefined,
    failure: undefined,
  };
  return {
    stats: state.stats,
    append(entry) {
      if (state.failure !== undefined) {
        throw state.failure;
      }
      state.pending.push(entry);
      state.stats.entries += 1;
      schedule(state);
    },
    durable: () =>
      state.failure === undefined ? (state.next ?? state.inFlight)?.promise : Promise.reject(state.failure),
    rotate: () => rotate(state),
    async close() {
      // The failure was already reported through `onFailure`.
      await (state.next ?? state.inFlight)?.promise.catch(() => undefined);
      state.file.close();
    },
  };
}

/**
 * Starts a group commit after the current iteration of the event loop. All writes of the iteration
 * share one sync.
 */
function schedule(state: State): void {
  state.next ??= createDeferred();
  if (!state.running) {
    state.running = true;
    setImmediate(() => void flush(state));
  }
}

async function flush(state: State): Promise<void> {
  while (state.next !== undefined) {
    const done = state.next;
    const { pending, rotation } = state;
    state.inFlight = done;
    state.next = undefined;
    state.pending = [];
    state.rotation = undefined;
    try {
      if (rotation !== undefined) {
        await writeBatch(state, rotation.entries);
        const generation = state.file.next();
        state.stats.journalBytes = 0;
        rotation.resolve(generation);
      }
      await writeBatch(state, pending);
    } catch (error) {
      fail(state, error, rotation);
      return;
    }
    state.inFlight = undefined;
    done.resolve();
  }
  state.running = false;
}

async function writeBatch(state: State, entries: Buffer[]): Promise<void> {
  if (entries.length > 0) {
    state.stats.journalBytes += await state.file.write(entries);
    state.stats.syncs += 1;
  }
}

function fail(state: State, cause: unknown, rotation: Rotation | undefined): void {
  const { directory, onFailure } = state.options;
  const failure = new JournalError(
    `The journal in ${directory} cannot be written: ${describeSystemError(cause)}.`,
    {
      cause,
    },
  );
  state.failure = failure;
  try {
    // The entries of the failed batch were never acknowledged, so they must not reappear after a
    // restart.
    state.file.cut();
  } catch {
    // The partial block may stay, because its checksum is invalid.
  }
  state.inFlight?.reject(failure);
  state.next?.reject(failure);
  rotation?.reject(failure);
  state.rotation?.reject(failure);
  onFailure(failure);
}

function rotate(state: State): Promise<number> {
  return new Promise((resolve, reject) => {
    if (state.failure !== undefined) {
      reject(state.failure);
      return;
    }
    state.rotation = { entries: state.pending, resolve, reject };
    state.pending = [];
    schedule(state);
  });
}

function createDeferred(): Deferred {
  let resolve: () => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<void>((res, rej) => {
    resolve = res;
    reject = rej;
  });
  // Callers that wait still receive the rejection. If nobody waits, it must not end the process as
  // an unhandled rejection.
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
