import { atSnapshot } from '../../database/mongo.js';
import { countAll } from '../../money/totals/counters.js';
import { differences, readDay } from '../../money/totals/read-totals.js';
import { totalsAreComplete } from '../../money/totals/totals-state.model.js';
import { accountDays } from '../../purchases/account-days.js';
import { countDay } from '../../purchases/count-day.js';
import type { FindingLog } from './ledger-report.js';
import type { Part } from './part.js';

/** docs/explanation/ledger.md#daily-totals: each day of each account, purchases and totals read at one moment. */
export async function checkDailyTotals(log: FindingLog, { fromDay, onPart }: Part): Promise<void> {
  if (!(await totalsAreComplete())) {
    // Nobody reads them before they were built.
    log.leaveOut('totals');
    return;
  }
  for await (const { accountId, day } of accountDays({ fromDay, onAccount: onPart })) {
    const wrong = await atSnapshot(async (snapshot) => {
      const counted = await countDay(snapshot, accountId, day);
      const { base, slots } = await readDay(snapshot, accountId, day);
      countAll(base, slots);
      return differences(base, counted);
    });
    for (const { path, one, other } of wrong) {
      log.add({
        check: 'totals',
        subject: `account ${accountId} on ${day}`,
        message: `${path} is ${one}, its transactions come to ${other}: topup totals rebuild`,
      });
    }
    onPart();
  }
}
