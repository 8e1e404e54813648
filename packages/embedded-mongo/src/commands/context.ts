import type { ObjectId } from 'bson';
import type { Election } from '../election.js';
import type { Failpoints } from '../failpoints.js';
import type { Doc } from '../values/types.js';
import type { Store } from '../store/store.js';
import type { Transaction } from '../store/transaction.js';
import type { Session, Sessions } from '../transactions/sessions.js';
import type { StatementContext } from '../transactions/run-statement.js';
import type { ClusterClock } from '../wire/cluster-time.js';
import type { Connection } from '../wire/connection.js';
import type { FieldType } from './fields.js';
import type { SnapshotReads } from './snapshot-reads.js';

/** The state of the running server, shared by all commands. */
export interface Server {
  readonly store: Store;
  readonly sessions: Sessions;
  readonly cursors: Cursors;
  readonly failpoints: Failpoints;
  readonly election: Election;
  readonly clock: ClusterClock;
  readonly snapshotReads: SnapshotReads;
  readonly parameters: Parameters;
  /** Number of calls and failures of each command since the start. */
  readonly commandCounts: Map<string, CommandCount>;
  readonly setName: string;
  /** `host:port` as clients reach it. */
  address: string;
  readonly processId: ObjectId;
  readonly startedAtMs: number;
}

export interface CommandCount {
  total: number;
  failed: number;
}

/** Open cursors by id. */
export type Cursors = Map<bigint, Cursor>;

/** The rest of a result. Documents are encoded when they are fetched. */
export interface Cursor {
  readonly namespace: string;
  /** Yields null at points where other commands may run. */
  readonly documents: Iterator<Uint8Array | null>;
  /**
   * True while its collection and indexes exist. Null if the result was complete when the cursor
   * was opened.
   */
  readonly isAlive: (() => boolean) | null;
  /** Maximum number of documents that it still returns. */
  left: number;
  /** A document that was read but did not fit into the previous batch. */
  held: Uint8Array | null;
  readonly transaction: Transaction | null;
  readonly neverTimesOut: boolean;
  usedAtMs: number;
}

/** Server parameters that can be changed at run time (`setParameter`). */
export interface Parameters {
  transactionLifetimeLimitSeconds: number;
  ttlMonitorSleepSecs: number;
  ttlMonitorEnabled: boolean;
  cursorTimeoutMillis: number;
}

/** One command in progress. */
export interface CommandContext {
  readonly server: Server;
  readonly name: string;
  readonly command: Doc;
  readonly database: string;
  /** The documents of an `insert` that came as a document sequence. */
  readonly documents: readonly Buffer[] | undefined;
  readonly legacy: boolean;
  readonly connection: Connection;
  readonly session: Session | undefined;
  /**
   * The client's transaction that this command is part of, or the snapshot that it reads. Null
   * reads the newest data.
   */
  readonly reader: Transaction | null;
  /** The client's transaction that this command is part of. */
  readonly transaction: Transaction | null;
  readonly statement: StatementContext;
  readonly now: Date;
}

/** A reply document, or its encoding. */
export type CommandResult = Doc | Buffer;

type CommandHandler = (context: CommandContext) => CommandResult | Promise<CommandResult>;

/** A command: its handler, its fields, and where it may be used. */
export interface CommandDefinition {
  readonly handle: CommandHandler;
  /** Fields in addition to the common ones; null leaves them unchecked. */
  readonly fields: Readonly<Record<string, FieldType>> | null;
  readonly inTransaction?: boolean;
  /**
   * True if it commits or aborts a transaction. It then works on the session, not inside the
   * transaction.
   */
  readonly endsTransaction?: boolean;
  /** True if it writes: `writeConcern` applies, and only the primary accepts it. */
  readonly writes?: boolean;
  /**
   * True if it reads data, possibly with a read preference other than primary. A command that may
   * also write, such as `aggregate`, counts as a read.
   */
  readonly reads?: boolean;
}
