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
  /** The number of calls and failures of each command since the server started. */
  readonly commandCounts: Map<string, CommandCount>;
  readonly setName: string;
  /** The `host:port` that clients connect to. */
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

/**
 * The documents of a result that were not sent yet. A document is encoded only when the client
 * fetches it.
 */
export interface Cursor {
  readonly namespace: string;
  /** Yields null between two documents when other commands may run. */
  readonly documents: Iterator<Uint8Array | null>;
  /**
   * True while the collection and the indexes that the cursor reads exist. Null if the whole result
   * was computed when the cursor was opened.
   */
  readonly isAlive: (() => boolean) | null;
  /** Maximum number of documents that the cursor may still return. */
  left: number;
  /** A document that was read for the previous batch but did not fit into it. */
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

/** A command that is being executed. */
export interface CommandContext {
  readonly server: Server;
  readonly name: string;
  readonly command: Doc;
  readonly database: string;
  /** The documents of an `insert` if the client sent them as a document sequence. */
  readonly documents: readonly Buffer[] | undefined;
  readonly legacy: boolean;
  readonly connection: Connection;
  readonly session: Session | undefined;
  /**
   * The open transaction of the client, or the snapshot from the read concern. If it is null, the
   * command reads the newest data.
   */
  readonly reader: Transaction | null;
  /** The open transaction of the client, or null outside of a transaction. */
  readonly transaction: Transaction | null;
  readonly statement: StatementContext;
  readonly now: Date;
}

/** A reply: a document, or the BSON encoding of one. */
export type CommandResult = Doc | Buffer;

type CommandHandler = (context: CommandContext) => CommandResult | Promise<CommandResult>;

/** The handler of a command, its fields, and the conditions under which it may run. */
export interface CommandDefinition {
  readonly handle: CommandHandler;
  /**
   * Fields that the command has in addition to the common ones. Null disables the check of unknown
   * fields.
   */
  readonly fields: Readonly<Record<string, FieldType>> | null;
  readonly inTransaction?: boolean;
  /**
   * True if the command commits or aborts a transaction. It then acts on the session and does not
   * run inside the transaction.
   */
  readonly endsTransaction?: boolean;
  /**
   * True if the command writes. Such a command accepts a `writeConcern` and runs only on the
   * primary.
   */
  readonly writes?: boolean;
  /**
   * True if the command reads data and accepts a read preference other than primary. A command that
   * may also write, such as `aggregate`, counts as a read.
   */
  readonly reads?: boolean;
}
