import type { Store } from '../store/store.js';
import { endTransaction, type Sessions } from './sessions.js';

export interface SessionLimits {
  /** `transactionLifetimeLimitSeconds`: an older transaction is aborted. */
  transactionLifetimeSeconds: number;
  /** Sessions unused for so long are forgotten, with the replies they remember. */
  sessionTimeoutMinutes: number;
}

/** Aborts transactions that are too old or whose client is gone, and forgets sessions that are not used any more. */
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

/** The locks of a client that died go with it: transactions that last used this connection are given up at this time. */
export function connectionClosed(sessions: Sessions, connectionId: number, giveUpAtMs: number): void {
  for (const session of sessions.byKey.values()) {
    if (session.transaction !== null && session.connectionId === connectionId) {
      session.orphanedAtMs = giveUpAtMs;
    }
  }
}
