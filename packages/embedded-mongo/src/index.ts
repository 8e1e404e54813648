import { startServer } from './server.js';

export interface StartOptions {
  /** Port to listen on. By default any free port. */
  port?: number;
  /** Data directory. It is created if it does not exist. */
  dbPath: string;
  /** True if every write is synced to disk before it is acknowledged, which is the default. */
  fsync?: boolean;
  /** Name of the replica set that clients see. The default is `rs0`. */
  replicaSet?: string;
  /**
   * Address to listen on. The default is 127.0.0.1. There is no authentication, so any other
   * address exposes all data to the network.
   */
  bind?: string;
  /**
   * Called after the server has stopped because the journal could not be written, for example on a
   * full disk. By default the error is thrown.
   */
  onFailure?: (error: Error) => void;
}

export interface EmbeddedMongo {
  uri: string;
  port: number;
  stop: () => Promise<void>;
}

/**
 * Starts a development database in this process. Rejects if the directory is in use, damaged or not
 * writable. Also rejects with NODE_ENV=production, because production requires MongoDB.
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

/** The journal is replaced by a snapshot when it reaches this size. */
export const COMPACT_AT_BYTES = 64 * 1024 * 1024;

/** Throws in production, because this server is only for development and tests. */
export function refuseProduction(): void {
  // eslint-disable-next-line no-restricted-syntax -- the one setting that must not come through an option
  if (process.env['NODE_ENV'] === 'production') {
    throw new Error(
      'embedded-mongo is for development and tests only: NODE_ENV=production needs a real MongoDB.',
    );
  }
}
