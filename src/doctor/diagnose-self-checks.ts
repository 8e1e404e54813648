import type { LedgerVerification } from '../reconciliation/ledger/ledger-verification.model.js';
import { isRed } from '../reconciliation/provider-reconciliation.model.js';
import { nowMs } from '../shared/clock.js';
import { fail, ok, warn, type Diagnosis } from './diagnosis.js';
import { selfChecks, type SelfReconciliation } from './self-checks.js';

const dailyMaxMs = 36 * 3_600_000;
const clockMaxMs = 3_600_000;

/** What the service has found out by itself, on a schedule. */
export async function diagnoseSelfChecks(): Promise<Diagnosis[]> {
  const { verification, reconciliations, clock } = await selfChecks();
  const late = clock.filter(({ at }) => nowMs() - at.getTime() > clockMaxMs);
  return [
    diagnoseVerification(verification.last),
    ...reconciliations.map(diagnoseReconciliation),
    late.length === 0
      ? ok(
          'work by the clock',
          clock.length === 0 ? 'nothing was done yet' : 'all of it was done within the hour',
        )
      : warn(
          'work by the clock',
          late.map(({ _id, at }) => `${_id} last at ${shown(at)}`).join(', '),
          'See that follow-up runs, and topup job list.',
        ),
  ];
}

function diagnoseVerification(last: LedgerVerification | null): Diagnosis {
  const name = 'ledger';
  if (!last) {
    return ok(name, 'not verified by the clock yet; a follow-up process does it once a day');
  }
  const at = shown(last.at);
  if (!last.ok) {
    const checks = last.checks.map(({ check, failures }) => `${check} (${failures})`).join(', ');
    return fail(
      name,
      `red at ${at}: ${checks}`,
      'Stop payouts; topup ledger verify --json tells what. See docs/operations.md, "Ledger".',
    );
  }
  return nowMs() - last.at.getTime() > dailyMaxMs
    ? warn(
        name,
        `not verified since ${at}`,
        'See that follow-up runs, and topup job list; topup ledger verify',
      )
    : ok(name, `verified ${at}`);
}

function diagnoseReconciliation({ username, since, last }: SelfReconciliation): Diagnosis {
  const name = `record of ${username}`;
  const red = last.filter(isRed);
  const [worst] = red;
  if (worst) {
    const days = red.map(({ date, different }) => `${date} (${different})`).join(', ');
    return fail(
      name,
      `differs from ours: ${days}`,
      `topup reconcile --provider ${username} --date ${worst.date} tells what. Explained: topup provider accept ${username} ${worst.date} --reason …`,
    );
  }
  const [newest] = last;
  if (nowMs() - (newest?.at ?? since).getTime() > dailyMaxMs) {
    return warn(
      name,
      newest ? `not compared with ours since ${shown(newest.at)}` : 'never compared with ours',
      'See the log of follow-up at "provider did not give its record"; topup reconcile compares a day by hand.',
    );
  }
  return ok(
    name,
    newest ? `${newest.date} agrees with ours, or is explained` : 'not compared yet: once a day',
  );
}

function shown(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
