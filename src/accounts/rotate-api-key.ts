import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { decrypt } from '../shared/encryption.js';
import { NotFoundError } from '../shared/errors.js';
import { nowMs } from '../shared/clock.js';
import { inTransaction } from '../database/mongo.js';
import { forgetAuthentication } from './known-keys.js';
import type { Account } from './account.model.js';
import { ApiKeyModel } from './api-key.model.js';
import { newApiKey } from './api-key.js';
import { apiKeyDocument } from './create-account.js';

export interface RotatedKey {
  apiKey: string;
  previousValidUntil: Date;
}

/**
 * Makes a new API key; the old one stays valid for `overlapMinutes`, and so do those before it that were to live
 * longer: after a leak, an overlap of 0 ends them all. Two rotations at the same time: one waits for the other and
 * both hold, because only one key of an account can be current.
 */
export async function rotateApiKey(
  account: Account,
  overlapMinutes: number,
  by: ChangedBy,
): Promise<RotatedKey> {
  const apiKey = newApiKey(account.role, account.mode);
  const previousValidUntil = new Date(nowMs() + overlapMinutes * 60_000);
  await inTransaction(async (session) => {
    await ApiKeyModel.updateMany(
      { accountId: account._id, $or: [{ validUntil: null }, { validUntil: { $gt: previousValidUntil } }] },
      { $set: { validUntil: previousValidUntil } },
      { session },
    );
    await ApiKeyModel.create([apiKeyDocument(account._id, apiKey)], { session });
    await recordAudit(session, {
      ...by,
      action: 'api-key.rotate',
      subject: { kind: 'account', id: account._id },
      after: { previousValidUntil },
    });
  });
  forgetAuthentication();
  return { apiKey, previousValidUntil };
}

/** The account's current API key in clear, for its own configuration page and the reseller sign. */
export async function currentApiKey(accountId: string): Promise<string> {
  const key = await ApiKeyModel.findOne({ accountId, validUntil: null }).lean();
  if (!key) {
    throw new NotFoundError('This account has no API key.');
  }
  return decrypt(key.sealed, `api-key:${accountId}`);
}
