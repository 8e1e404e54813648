import { AccountModel, type Account } from '../accounts/account.model.js';
import { ApiKeyModel } from '../accounts/api-key.model.js';
import { generateApiKey } from '../accounts/api-key.js';
import { buildApiKeyDocument } from '../accounts/create-account.js';
import { requireCurrentKey } from '../accounts/require-power.js';
import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { inTransaction } from '../database/mongo.js';
import { writeAndInvalidate } from '../redis/changing.js';
import { now, nowMs } from '../shared/clock.js';
import { announceDeliveries } from './announce-deliveries.js';
import { notifyOwner } from './tell-owner.js';

export interface RotatedKey {
  apiKey: string;
  previousValidUntil: Date;
}

/**
 * Makes a new API key; the old one stays valid for `overlapMinutes`, and so do those before it that were to live
 * longer: after a leak, an overlap of 0 ends them all, and every download link of a report, which whoever had the key
 * could have asked for. The account's webhook URL is told.
 * @param by.keyId The key that asks. Of two that ask at once with it one gets a new key, the other is refused: its
 * own is not the current one any more. Null: the operator, who does not care which it is.
 * @throws SupersededKeyError (403/07)
 */
export async function rotateApiKey(
  account: Account,
  overlapMinutes: number,
  by: ChangedBy & { keyId: string | null },
): Promise<RotatedKey> {
  const { _id: accountId } = account;
  const apiKey = generateApiKey(account.role, account.mode);
  const key = buildApiKeyDocument(accountId, apiKey);
  const previousValidUntil = new Date(nowMs() + overlapMinutes * 60_000);
  const deliveries = await writeAndInvalidate([ApiKeyModel, AccountModel], [accountId], (keys, accounts) =>
    inTransaction(async (session) => {
      await requireCurrentKey(session, by.keyId);
      await keys.updateMany(
        { accountId, $or: [{ validUntil: null }, { validUntil: { $gt: previousValidUntil } }] },
        { $set: { validUntil: previousValidUntil } },
        { session },
      );
      await keys.create([key], { session });
      // Every change of this kind writes the account, so that two of them never pass each other unseen.
      await accounts.updateOne(
        { _id: accountId },
        { $set: { guardedSince: now() }, ...(overlapMinutes === 0 && { $inc: { linkEpoch: 1 } }) },
        { session },
      );
      await recordAudit(session, {
        ...by,
        action: 'api-key.rotate',
        subject: { kind: 'account', id: accountId },
        after: { keyId: key._id, previousValidUntil },
      });
      return notifyOwner(session, accountId, ['api_key']);
    }),
  );
  await announceDeliveries(deliveries);
  return { apiKey, previousValidUntil };
}
