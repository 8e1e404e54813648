import { reasonOf } from './data-directory-error.js';
import { openJournalFile, type JournalFile } from './journal-file.js';
import type { JournalPosition } from './recover.js';

/** The journal could not be written: what was not acknowledged is lost, and the process must not go on serving it. */
export class JournalError extends Error {
  override readonly name = 'JournalError';
}

interface JournalStats {
  /** Bytes of the journals since the newest snapshot, and of that snapshot. */
  journalBytes: number;
  snapshotBytes: number;
  syncs: number;
  entries: number;
}

export interface Journal {
  /** Adds an entry. Entries appended without an await between them reach the disk together or not at all. */
  append: (entry: Buffer) => void;
  /** Undefined if all that was appended is on disk, else a promise of it; rejects with JournalError. */
  durable: () => Promise<void> | undefined;
  /** Lets what is appended from now on go to a new file; resolves to its generation once that file exists. */
  rotate: () => Promise<number>;
  readonly stats: JournalStats;
  /** Flushes and closes. */
  close: () => Promise<void>;
}

export interface JournalOptions {
  directory: string;
  /** False leaves writes to the operating system: they survive a killed process, not a power cut. */
  sync: boolean;
  /** Called once, when writing has failed. */
  onFailure: (error: JournalError) => void;
}

interface Deferred {
  promise: Promise<void>;
  resolve: () => void;
  reject: (error: Error) => void;
}

interface Rotation {
  /** What still has to go to the old file. */
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
  /** The group commit being written, and the one that collects entries. */
  inFlight: Deferred | undefined;
  next: Deferred | undefined;
  failure: JournalError | undefined;
}

/** Opens the journal for appending at the position where recovery ended. */
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
      // A failure was reported when it happened; closing is what remains to be done.
      await (state.next ?? state.inFlight)?.promise.catch(() => undefined);
      state.file.close();
    },
  };
}

/** Starts a group commit at the end of this turn of the event loop, so that all writes of the turn share one sync. */
function schedule(state: State): void {
  state.next ??= deferred();
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
  const failure = new JournalError(`The journal in ${directory} cannot be written: ${reasonOf(cause)}.`, {
    cause,
  });
  state.failure = failure;
  try {
    // What was written of the batch was not acknowledged to anybody, and must not come back after a restart.
    state.file.cut();
  } catch {
    // The checksum keeps a partial block from counting, so a file that can't be cut either is no danger.
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

function deferred(): Deferred {
  let resolve: () => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<void>((res, rej) => {
    resolve = res;
    reject = rej;
  });
  // A failure reaches whoever waits for it; nobody may be waiting, and that is no crash of its own.
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
