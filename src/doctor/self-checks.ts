/** What the service checks by itself, on a schedule: what that came to last, and when it comes next. */
import { lastClockRuns, type ClockRun } from '../jobs/clock-run.model.js';
import { findLastClosedDay } from '../money/closes/find-close.js';
import { getNextClose } from '../reconciliation/closes/close-ledger.js';
import type { LedgerVerification } from '../reconciliation/ledger/ledger-verification.model.js';
import { findLastVerification, getNextVerificationMs } from '../reconciliation/ledger/verify-daily.js';
import type { ProviderReconciliation } from '../reconciliation/provider-reconciliation.model.js';
import { findJobByName } from '../processes.js';
import { nowMs } from '../shared/clock.js';
import { findLastByProvider, getNextReconciliation } from '../reconciliation/reconcile-due.js';

export interface SelfChecks {
  /** Null: none yet. */
  verification: { last: LedgerVerification | null; nextAt: Date };
  /** `day` is YYYY-MM-DD in business time. */
  close: { last: { day: string; at: Date; root: string; isSigned: boolean } | null; nextAt: Date };
  /** One a provider that can be asked for its record, by username. */
  reconciliations: SelfReconciliation[];
  /** Retention, totals and the like: work by the clock, with when it was last done and what it did. */
  clock: SelfClockRun[];
}

export interface SelfClockRun extends ClockRun {
  everyMs: number;
}

export interface SelfReconciliation {
  sellerId: string;
  username: string;
  /** When the seller was made: since then there was something to compare. */
  since: Date;
  /** The days that were compared last, the newest first, at most seven. */
  last: ProviderReconciliation[];
  nextAt: Date;
}

/** Reads a few rows by their ids. `nextAt` is now where it is due. */
export async function selfChecks(): Promise<SelfChecks> {
  const [verified, closed, providers, clock] = await Promise.all([
    findLastVerification(),
    findLastClosedDay(),
    findLastByProvider(),
    lastClockRuns(),
  ]);
  return {
    verification: { last: verified, nextAt: new Date(Math.max(nowMs(), getNextVerificationMs(verified))) },
    close: {
      last: closed && {
        day: closed._id,
        at: closed.content.closedAt,
        root: closed.root,
        isSigned: closed.signature !== null,
      },
      nextAt: getNextClose(closed),
    },
    reconciliations: providers
      .map(({ seller, last }) => ({
        sellerId: seller._id,
        username: seller.username,
        since: seller.createdAt,
        last,
        nextAt: getNextReconciliation(last),
      }))
      .sort((a, b) => a.username.localeCompare(b.username)),
    // An earlier release may have left runs of work behind that is done no more.
    clock: clock.flatMap((run) => {
      const everyMs = findJobByName(run._id)?.clock?.everyMs;
      return everyMs === undefined ? [] : [{ ...run, everyMs }];
    }),
  };
}
