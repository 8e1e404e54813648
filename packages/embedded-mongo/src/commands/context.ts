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

/** What all commands share: the running server. */
export interface Server {
  readonly store: Store;
  readonly sessions: Sessions;
  readonly cursors: Cursors;
  readonly failpoints: Failpoints;
  readonly election: Election;
  readonly clock: ClusterClock;
  readonly snapshotReads: SnapshotReads;
  readonly parameters: Parameters;
  /** How often each command was asked for, and failed, since the start. */
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

/** The open cursors by id. */
export type Cursors = Map<bigint, Cursor>;

/** The rest of a result, encoded as it is fetched. */
export interface Cursor {
  readonly namespace: string;
  /** Null where other commands may run. */
  readonly documents: Iterator<Uint8Array | null>;
  /** Whether its collection and index still exist. Null: the result was complete when the cursor was opened. */
  readonly isAlive: (() => boolean) | null;
  /** How many documents it still gives at most. */
  left: number;
  /** Taken from `documents` but too large for the batch before. */
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

/** One command being run. */
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
  /** The client's transaction that this command is part of, or the snapshot that it reads; null to read what is newest. */
  readonly reader: Transaction | null;
  /** The client's transaction that this command is part of. */
  readonly transaction: Transaction | null;
  readonly statement: StatementContext;
  readonly now: Date;
}

/** A reply is a document, or one that is encoded already. */
export type CommandResult = Doc | Buffer;

type CommandHandler = (context: CommandContext) => CommandResult | Promise<CommandResult>;

/** A command: what it does, the fields it knows, and where it may be used. */
export interface CommandDefinition {
  readonly handle: CommandHandler;
  /** Fields beside those that every command has; null leaves them unchecked. */
  readonly fields: Readonly<Record<string, FieldType>> | null;
  readonly inTransaction?: boolean;
  /** It commits or aborts a transaction, and so works on the session instead of inside of the transaction. */
  readonly endsTransaction?: boolean;
  /** It writes, so `writeConcern` applies, and only the primary does it. */
  readonly writes?: boolean;
  /** It reads data, which a client may or may not want from the primary alone. One that may write too is a read here. */
  readonly reads?: boolean;
}
