import { withSnapshot } from '../../database/mongo.js';
import { addToCounters } from '../../money/totals/counters.js';
import { compareCounters, readStoredDay } from '../../money/totals/read-totals.js';
import { areTotalsComplete } from '../../money/totals/totals-state.model.js';
import { listAccountDays, countDayTotals } from '../../purchases/rebuild-totals.js';
import type { FindingLog, Part } from './ledger-report.js';

/**
 * Checks docs/explanation/ledger.md#daily-totals for each day of each account. Purchases and totals
 * are read at one snapshot.
 */
export async function checkDailyTotals(log: FindingLog, { fromDay, onPart }: Part): Promise<void> {
  if (!(await areTotalsComplete())) {
    // The service does not use totals until they are complete.
    log.leaveOut('totals');
    return;
  }
  for await (const { accountId, day } of listAccountDays({ fromDay, onAccount: onPart })) {
    const wrong = await withSnapshot(async (snapshot) => {
      const counted = await countDayTotals(snapshot, accountId, day);
      const { base, slots } = await readStoredDay(snapshot, accountId, day);
      addToCounters(base, slots);
      return compareCounters(base, counted);
    });
    for (const { path, one, other } of wrong) {
      log.add({
        check: 'totals',
        subject: `account ${accountId} on ${day}`,
        message: `${path} is ${one}, its transactions total ${other}: run topup totals rebuild`,
      });
    }
    onPart();
  }
}
