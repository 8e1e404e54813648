import { getBusinessDay } from '../shared/business-time.js';
import { dailyTotals } from '../money/totals/daily-totals.model.js';
import { AccountModel } from '../accounts/account.model.js';
import { purchases } from './purchase.model.js';
import { ownerField, sides, type Side } from './totals-of.js';

const accountsAtOnce = 1_000;

/**
 * Every day on which an account has purchases or totals, account by account: at most one account's days in memory.
 * @param options.fromDay Days from this one on (YYYY-MM-DD); null: all.
 * @param options.onAccount Called for each account, also where it has no day.
 */
export async function* listAccountDays({
  fromDay = null,
  onAccount = () => undefined,
}: { fromDay?: string | null; onAccount?: () => void } = {}): AsyncGenerator<{
  accountId: string;
  day: string;
}> {
  for await (const accountId of listAccountIds()) {
    onAccount();
    const days = new Set<string>();
    for (const side of sides) {
      for await (const day of listPurchaseDays(accountId, side)) {
        if (fromDay !== null && day < fromDay) {
          break;
        }
        days.add(day);
      }
    }
    for (const day of await findTotalsDays(accountId, fromDay)) {
      days.add(day);
    }
    for (const day of [...days].sort()) {
      yield { accountId, day };
    }
  }
}

async function* listAccountIds(): AsyncGenerator<string> {
  for (let after = ''; ;) {
    const page = await AccountModel.find({ _id: { $gt: after } }, { _id: 1 })
      .sort({ _id: 1 })
      .limit(accountsAtOnce)
      .lean<{ _id: string }[]>();
    yield* page.map((each) => each._id);
    after = page.at(-1)?._id ?? '';
    if (page.length < accountsAtOnce) {
      return;
    }
  }
}

/** From one day to the next by the index, however many purchases a day has. */
async function* listPurchaseDays(accountId: string, side: Side): AsyncGenerator<string> {
  let before: Date | null = null;
  for (;;) {
    const newest: { createdAt: Date } | null = await purchases.findOne(
      { [ownerField[side]]: accountId, ...(before && { createdAt: { $lt: before } }) },
      { projection: { _id: 0, createdAt: 1 }, sort: { createdAt: -1, _id: -1 } },
    );
    if (!newest) {
      return;
    }
    const { day, startMs } = getBusinessDay(newest.createdAt);
    yield day;
    before = new Date(startMs);
  }
}

async function findTotalsDays(accountId: string, fromDay: string | null): Promise<Set<string>> {
  const found = dailyTotals
    .find({ _id: { $gte: `${accountId}|${fromDay ?? ''}`, $lt: `${accountId}|~` } })
    .project<{ day: string }>({ _id: 0, day: 1 })
    // The base of a day follows its slots: a day that is folded meanwhile is not missed.
    .sort({ _id: 1 });
  const days = new Set<string>();
  for await (const { day } of found) {
    days.add(day);
  }
  return days;
}
