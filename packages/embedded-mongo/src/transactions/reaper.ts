import type { Store } from '../store/store.js';
import { endTransaction, type Sessions } from './sessions.js';

export interface SessionLimits {
  /** `transactionLifetimeLimitSeconds`: an older transaction is aborted. */
  transactionLifetimeSeconds: number;
  /** Sessions unused for so long are forgotten, with the replies they remember. */
  sessionTimeoutMinutes: number;
}

/** How long a transaction outlives the connection it last used, so that a driver can go on with it on another one. */
const ORPHAN_GRACE_MS = 3000;

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

/** The locks of a client that died go with it: starts the grace of transactions that last used this connection. */
export function connectionClosed(sessions: Sessions, connectionId: number, nowMs: number): void {
  for (const session of sessions.byKey.values()) {
    if (session.transaction !== null && session.connectionId === connectionId) {
      session.orphanedAtMs = nowMs + ORPHAN_GRACE_MS;
    }
  }
}
