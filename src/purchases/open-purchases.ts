import { atSnapshot } from '../database/mongo.js';
import { nowMs } from '../shared/clock.js';
import { purchases } from './purchase.model.js';

/** So many are looked at of what is open; more changes nothing about what to do. */
const lookedMax = 5_000;

export interface OpenPurchases {
  count: number;
  /** Rupiah that were debited for them and belong to nobody yet. */
  suspense: number;
  /** There are more than were looked at. */
  isCut: boolean;
  /** How many were accepted less than so many milliseconds ago, in the order of the ages asked for. */
  younger: number[];
}

/**
 * Purchases that are not final, by the index of what is due; what waits for a person comes first there. Counted and added
 * up by MongoDB: thousands of rows are not sent for a few figures.
 */
export async function sumOpenPurchases(agesMs: readonly number[] = []): Promise<OpenPurchases> {
  const atMs = nowMs();
  const youngerThan = agesMs.map((ageMs, place): [name: string, sum: object] => [
    `younger${place}`,
    { $sum: { $cond: [{ $gt: ['$createdAt', new Date(atMs - ageMs)] }, 1, 0] } },
  ]);
  // Of one moment: a purchase moves within this index while it is read, and would be counted twice or not at all.
  const [found] = await atSnapshot((snapshot) =>
    purchases
      .aggregate<{ count: number; suspense: number } & Record<string, number>>(
        [
          { $match: { status: { $in: ['PENDING', 'PROCESSING'] } } },
          { $limit: lookedMax },
          {
            $group: {
              _id: null,
              count: { $sum: 1 },
              suspense: { $sum: '$price' },
              ...Object.fromEntries(youngerThan),
            },
          },
        ],
        { ...snapshot, hint: 'status_next_action' },
      )
      .toArray(),
  );
  const { count = 0, suspense = 0 } = found ?? {};
  const younger = youngerThan.map(([name]) => found?.[name] ?? 0);
  return { count, suspense, isCut: count === lookedMax, younger };
}
