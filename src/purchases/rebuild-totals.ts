import { atSnapshot } from '../database/mongo.js';
import { replaceBase } from '../money/totals/base.js';
import { addToCounters } from '../money/totals/counters.js';
import { compareCounters, readStoredDay } from '../money/totals/read-totals.js';
import { setTotalsComplete } from '../money/totals/totals-state.model.js';
import { listAccountDays } from './account-days.js';
import { countDayTotals } from './count-day.js';
import { purchases } from './purchase.model.js';

export interface Rebuilt {
  /** Days of accounts, all of them and those whose totals were not what their purchases come to. */
  days: number;
  corrected: number;
}

/**
 * Makes the daily totals anew from the purchases, while the service goes on writing both. Safe to break off and to run
 * again. Until the first has come to its end, history is counted.
 *
 * Every process that sells must be of a release that writes totals.
 */
export async function rebuildTotals(progress: (days: number) => void = () => undefined): Promise<Rebuilt> {
  const rebuilt: Rebuilt = { days: 0, corrected: 0 };
  for await (const { accountId, day } of listAccountDays()) {
    rebuilt.corrected += (await rebuildDay(accountId, day)) ? 1 : 0;
    progress(++rebuilt.days);
  }
  await setTotalsComplete();
  return rebuilt;
}

/** A new database: what is sold from now on is all there is. */
export async function beginTotals(): Promise<void> {
  if ((await purchases.findOne({}, { projection: { _id: 1 } })) === null) {
    await setTotalsComplete();
  }
}

/**
 * At one moment (a snapshot): what the purchases come to, less what the slots hold, is the base. The slots are not
 * touched, so that no sale conflicts with it; and since a sale adds to its slot in the database transaction that
 * stores it, either both are in the snapshot or both come on top of it. What is folded meanwhile changes the base, and
 * then it is done again.
 * @returns whether the base had to change.
 */
async function rebuildDay(accountId: string, day: string): Promise<boolean> {
  for (;;) {
    const { right, base, version } = await atSnapshot(async (snapshot) => {
      const counted = await countDayTotals(snapshot, accountId, day);
      const stored = await readStoredDay(snapshot, accountId, day);
      addToCounters(counted, stored.slots, -1);
      return { ...stored, right: counted };
    });
    if (compareCounters(right, base).length === 0) {
      return false;
    }
    if (await replaceBase({ accountId, day, version }, right)) {
      return true;
    }
  }
}
