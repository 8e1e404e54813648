/** Results and next times of the checks that the service runs on a schedule. */
import { listClockRuns, type ClockRun } from '../jobs/clock-run.model.js';
import { findLastClosedDay } from '../money/closes/day-closes.js';
import { getNextClose } from '../reconciliation/closes/close-ledger.js';
import type { LedgerVerification } from '../reconciliation/ledger/ledger-verification.model.js';
import { findLastVerification, getNextVerificationMs } from '../reconciliation/ledger/run-verification.js';
import {
  type ProviderReconciliation,
  hasUnacceptedDifferences,
} from '../reconciliation/provider-reconciliation.model.js';
import { findJobByName } from '../processes.js';
import { nowMs } from '../shared/clock.js';
import { findLastByProvider, getNextReconciliation } from '../reconciliation/reconcile-due.js';
import { formatBusinessTime } from '../shared/business-time.js';
import { fail, ok, warn, type Diagnosis } from './diagnosis.js';

export interface SelfChecks {
  /** The last ledger verification. `last` is null if none has run yet. */
  verification: { last: LedgerVerification | null; nextAt: Date };
  /** The last closed day. `day` is YYYY-MM-DD in business time. */
  close: { last: { day: string; at: Date; root: string; isSigned: boolean } | null; nextAt: Date };
  /** The reconciliations with each provider that can return its record, sorted by username. */
  reconciliations: SelfReconciliation[];
  /** Scheduled jobs such as retention and totals, with the time and result of their last run. */
  clock: SelfClockRun[];
}

export interface SelfClockRun extends ClockRun {
  everyMs: number;
}

export interface SelfReconciliation {
  sellerId: string;
  username: string;
  /** Creation time of the seller. Before it, there was nothing to compare. */
  since: Date;
  /** The last days that were compared, newest first, at most seven. */
  last: ProviderReconciliation[];
  nextAt: Date;
}

/**
 * Reads the last result and the next time of each check. If a check is due, its `nextAt` is now.
 */
export async function readSelfChecks(): Promise<SelfChecks> {
  const [verified, closed, providers, clock] = await Promise.all([
    findLastVerification(),
    findLastClosedDay(),
    findLastByProvider(),
    listClockRuns(),
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
    // Skip runs of jobs that exist only in an earlier release.
    clock: clock.flatMap((run) => {
      const everyMs = findJobByName(run._id)?.clock?.everyMs;
      return everyMs === undefined ? [] : [{ ...run, everyMs }];
    }),
  };
}

const dailyMaxMs = 36 * 3_600_000;
const clockMaxMs = 3_600_000;

/** Reports the results of the scheduled checks. */
export async function diagnoseSelfChecks(): Promise<Diagnosis[]> {
  const { verification, reconciliations, clock } = await readSelfChecks();
  return [
    diagnoseVerification(verification.last),
    ...reconciliations.map(diagnoseReconciliation),
    ...(clock.length === 0 ? [ok('clock', 'no scheduled job has run yet')] : clock.map(diagnoseRun)),
  ];
}

/** Reports the last run and the next time of a scheduled job. */
function diagnoseRun({ _id, at, durationMs, did, everyMs }: SelfClockRun): Diagnosis {
  const name = `clock: ${_id}`;
  const counts = Object.entries(did ?? {}).map(([what, count]) => `${what} ${count}`);
  const done = [`done at ${formatBusinessTime(at)} in ${durationMs} ms`, ...counts].join(', ');
  return nowMs() - at.getTime() > clockMaxMs
    ? fail(name, `last ${done}`, 'Check that follow-up runs, and see topup job list.')
    : ok(name, `${done}; next by ${formatBusinessTime(new Date(at.getTime() + everyMs))}`);
}

function diagnoseVerification(last: LedgerVerification | null): Diagnosis {
  const name = 'ledger';
  if (!last) {
    return ok(name, 'no scheduled verification yet; a follow-up process runs one a day');
  }
  const at = formatBusinessTime(last.at);
  if (!last.ok) {
    const checks = last.checks.map(({ check, failures }) => `${check} (${failures})`).join(', ');
    return fail(
      name,
      `failed at ${at}: ${checks}`,
      'Stop payouts. topup ledger verify --json shows the findings. See docs/guides/operate/verify-the-ledger.md.',
    );
  }
  return nowMs() - last.at.getTime() > dailyMaxMs
    ? warn(
        name,
        `not verified since ${at}`,
        'Check that follow-up runs, see topup job list, and run topup ledger verify',
      )
    : ok(name, `verified ${at}${formatSkippedRules(last)}`);
}

/** Lists the rules that a verification skipped. */
function formatSkippedRules({ notChecked: left }: LedgerVerification): string {
  return left.length > 0 ? `; not checked: ${left.join(', ')} (topup ledger verify --full)` : '';
}

function diagnoseReconciliation({ username, since, last }: SelfReconciliation): Diagnosis {
  const name = `record of ${username}`;
  const red = last.filter(hasUnacceptedDifferences);
  const [worst] = red;
  if (worst) {
    const days = red.map(({ date, different }) => `${date} (${different})`).join(', ');
    return fail(
      name,
      `differs from ours: ${days}`,
      `topup reconcile --provider ${username} --date ${worst.date} shows the differences. Once they are explained: topup provider accept ${username} ${worst.date} --reason …`,
    );
  }
  const [newest] = last;
  if (nowMs() - (newest?.at ?? since).getTime() > dailyMaxMs) {
    return warn(
      name,
      newest ? `not compared with ours since ${formatBusinessTime(newest.at)}` : 'never compared with ours',
      'See the log of follow-up at "provider did not return its record". topup reconcile compares a day manually.',
    );
  }
  return ok(
    name,
    newest
      ? `the record of ${newest.date} matches ours, or its differences were accepted`
      : 'not compared yet; it is compared once a day',
  );
}
