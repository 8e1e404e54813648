import { startServer } from './server.js';

export interface StartOptions {
  /** Port to listen on; any free one by default. */
  port?: number;
  /** Data directory. It is created if it does not exist. */
  dbPath: string;
  /** Sync every write to disk before it is acknowledged. Default true. */
  fsync?: boolean;
  /** Name of the replica set that clients see. Default `rs0`. */
  replicaSet?: string;
  /**
   * Address to listen on. Default 127.0.0.1. There is no authentication: another address exposes
   * all data.
   */
  bind?: string;
  /**
   * Called when the journal can't be written (disk full) and the server has stopped. Throws the
   * error by default.
   */
  onFailure?: (error: Error) => void;
}

export interface EmbeddedMongo {
  uri: string;
  port: number;
  stop: () => Promise<void>;
}

/**
 * Starts a development database in this process. Rejects when the directory is in use, damaged or
 * not writable, and with NODE_ENV=production, where MongoDB is required.
 */
export async function start(options: StartOptions): Promise<EmbeddedMongo> {
  refuseProduction();
  return startServer({
    port: options.port ?? 0,
    bind: options.bind ?? '127.0.0.1',
    dbPath: options.dbPath,
    fsync: options.fsync ?? true,
    setName: options.replicaSet ?? 'rs0',
    compactAtBytes: COMPACT_AT_BYTES,
    lockLifetimeSeconds: null,
    electionMs: null,
    majorityLagMs: null,
    log: () => undefined,
    onFailure:
      options.onFailure ??
      ((error) => {
        throw error;
      }),
  });
}

/** Journal size at which a snapshot replaces it. */
export const COMPACT_AT_BYTES = 64 * 1024 * 1024;

/** Throws in production. This server is for development and tests only. */
export function refuseProduction(): void {
  // eslint-disable-next-line no-restricted-syntax -- the one setting that must not come through an option
  if (process.env['NODE_ENV'] === 'production') {
    throw new Error(
      'embedded-mongo is for development and tests only: NODE_ENV=production needs a real MongoDB.',
    );
  }
}
