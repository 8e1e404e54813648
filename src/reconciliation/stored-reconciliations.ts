import type { Account } from '../accounts/account.model.js';
import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { runInTransaction } from '../database/mongo.js';
import { now } from '../shared/clock.js';
import { ConflictError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import {
  hasUnacceptedDifferences,
  providerReconciliations,
  type ProviderReconciliation,
} from './provider-reconciliation.model.js';
import type { Reconciliation } from './reconcile-provider.js';

/** Maximum number of differences stored per day. All differences are counted. */
export const storedDifferencesMax = 20;
/** Number of compared days per provider that can raise the alarm. */
export const daysWatched = 7;

/**
 * Stores the result of a comparison. An acceptance ends if there are more differences than were
 * accepted.
 */
export async function storeReconciliation(
  sellerId: string,
  found: Reconciliation,
  by: string,
): Promise<void> {
  const { date, ours, theirs, matched, different, differences } = found;
  const _id = getReconciliationId(sellerId, date);
  const facts = { sellerId, date, at: now(), by, ours, theirs, matched, different };
  await providerReconciliations.updateOne(
    { _id },
    {
      $set: { ...facts, differences: differences.slice(0, storedDifferencesMax) },
      $setOnInsert: { accepted: null },
    },
    { upsert: true },
  );
  await providerReconciliations.updateOne(
    { _id, 'accepted.different': { $lt: different } },
    { $set: { accepted: null } },
  );
}

/** Finds the last compared days, newest first, at most `daysWatched`. */
export async function findLastReconciliations(sellerId: string): Promise<ProviderReconciliation[]> {
  return providerReconciliations
    .find({ _id: { $gt: `${sellerId}:`, $lt: `${sellerId};` } })
    .sort({ _id: -1 })
    .limit(daysWatched)
    .toArray();
}

/**
 * Accepts the differences of a day as explained, which ends the alarm.
 * @param date YYYY-MM-DD in business time.
 * @throws ConflictError if the day has no unaccepted differences.
 */
export async function acceptDifferences(
  seller: Pick<Account, '_id' | 'username'>,
  date: string,
  by: ChangedBy,
): Promise<ProviderReconciliation> {
  const _id = getReconciliationId(seller._id, date);
  return runInTransaction(async (session) => {
    const found = await providerReconciliations.findOne({ _id }, { session });
    if (!found || !hasUnacceptedDifferences(found)) {
      throw new ConflictError(
        asWritten(
          found
            ? `Nothing to accept: ${found.different === 0 ? 'that day has no difference' : 'they were accepted before'}.`
            : `${seller.username} has not been reconciled for ${date}. Run topup reconcile.`,
        ),
      );
    }
    const accepted = { by: by.actor, reason: by.reason ?? '', at: now(), different: found.different };
    await providerReconciliations.updateOne({ _id }, { $set: { accepted } }, { session });
    await recordAudit(session, {
      ...by,
      action: 'provider.accept-differences',
      subject: { kind: 'provider', id: seller._id },
      after: { date, different: found.different },
    });
    return { ...found, accepted };
  });
}

function getReconciliationId(sellerId: string, date: string): string {
  return `${sellerId}:${date}`;
}
