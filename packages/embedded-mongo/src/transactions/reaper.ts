import type { Store } from '../store/store.js';
import { endTransaction, type Sessions } from './sessions.js';

export interface SessionLimits {
  /** The `transactionLifetimeLimitSeconds`. Older transactions are aborted. */
  transactionLifetimeSeconds: number;
  /**
   * Sessions that were not used for this time are removed together with their remembered replies.
   */
  sessionTimeoutMinutes: number;
}

/**
 * Aborts transactions that are too old or whose client has disconnected. Removes unused sessions.
 */
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
 * Schedules the abort of the transactions that last used this connection, because their client has
 * disconnected.
 * @param giveUpAtMs The time of the abort. A command of the transaction on another connection
 * cancels it.
 */
export function orphanTransactionsOf(sessions: Sessions, connectionId: number, giveUpAtMs: number): void {
  for (const session of sessions.byKey.values()) {
    if (session.transaction !== null && session.connectionId === connectionId) {
      session.orphanedAtMs = giveUpAtMs;
    }
  }
}
