import type { Store } from '../store/store.js';
import { endTransaction, type Sessions } from './sessions.js';

export interface SessionLimits {
  /** `transactionLifetimeLimitSeconds`: older transactions are aborted. */
  transactionLifetimeSeconds: number;
  /** Sessions that were unused for this time are forgotten, with their remembered replies. */
  sessionTimeoutMinutes: number;
}

/** Aborts transactions that are too old or whose client is gone. Forgets unused sessions. */
export function reapSessions(store: Store, sessions: Sessions, limits: SessionLimits, nowMs: number): void {
  for (const [key, session] of sessions.byKey) {
    if (session.transaction !== null) {
      const isTooOld = nowMs - session.transactionStartedAtMs > limits.transactionLifetimeSeconds * 1000;
      if (isTooOld || nowMs > session.orphanedAtMs) {
        endTransaction(store, session, 'aborted');
      }
    } else if (nowMs - session.lastUsedAtMs > limits.sessionTimeoutMinutes * 60_000) {
      sessions.byKey.delete(key);
    }
  }
}

/**
 * Releases the locks of a disconnected client: transactions that last used this connection are
 * aborted at the given time.
 */
export function orphanTransactionsOf(sessions: Sessions, connectionId: number, giveUpAtMs: number): void {
  for (const session of sessions.byKey.values()) {
    if (session.transaction !== null && session.connectionId === connectionId) {
      session.orphanedAtMs = giveUpAtMs;
    }
  }
}
