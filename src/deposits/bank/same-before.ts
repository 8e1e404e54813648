import { int64 } from '../../database/money-type.js';
import { daysAfter } from '../../shared/business-time.js';
import { BankLineModel, type BankLine } from './bank-line.model.js';

/** Two exports of one bank may book a payment on the day of its transfer, and on the next one. */
export const sameWithinDays = 1;

/** The day itself, and those on which the same payment may stand. */
export function daysAround(day: string): string[] {
  return [-sameWithinDays, 0, sameWithinDays].map((days) => daysAfter(day, days));
}

const shownMax = 5;

/**
 * Lines that were used or set aside and may be the same payment as this one: of its amount, at most a day away. An export with
 * other texts tells one payment twice, and nothing but a person can know. In their newest state: one that a failover takes back
 * refuses too much, never too little.
 */
export async function sameBefore({ _id, amount, day }: BankLine): Promise<BankLine[]> {
  const found = await BankLineModel.find({
    status: { $in: ['used', 'set-aside'] },
    amount: int64(amount),
    day: { $in: daysAround(day) },
  })
    .sort({ day: -1 })
    .limit(shownMax + 1)
    .lean<BankLine[]>();
  return found.filter((each) => each._id !== _id).slice(0, shownMax);
}
