import { AccountModel, type Account } from '../account.model.js';
import { ApiKeyModel } from '../api-key.model.js';
import { generateApiKey } from '../api-key.js';
import { buildApiKeyDocument } from '../create-account.js';
import { requireCurrentKey } from '../authenticate.js';
import { recordAudit, type ChangedBy } from '../../audit/record-audit.js';
import { runInTransaction } from '../../database/mongo.js';
import { writeAndInvalidate } from '../../redis/publish-changes.js';
import { now, nowMs } from '../../shared/clock.js';
import { announceDeliveries } from '../../webhooks/deliver/delivery-jobs.js';
import { notifyOwner } from './change-account.js';
import { NotFoundError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';

export interface RotatedKey {
  apiKey: string;
  previousValidUntil: Date;
}

/**
 * Creates a new API key. Older keys stay valid for at most `overlapMinutes`. An overlap of 0, as
 * after a leak, revokes all older keys and every report download link. The owner gets an event.
 *
 * @param by.keyId The API key of the call, or null for an operator. Of two concurrent calls with
 *   one key, the second is refused because the key is no longer current.
 * @throws SupersededKeyError (403/07) if the key is not current.
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
    runInTransaction(async (session) => {
      await requireCurrentKey(session, by.keyId);
      await keys.updateMany(
        { accountId, $or: [{ validUntil: null }, { validUntil: { $gt: previousValidUntil } }] },
        { $set: { validUntil: previousValidUntil } },
        { session },
      );
      await keys.create([key], { session });
      // Every key change writes the account, so that concurrent changes conflict.
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

/**
 * Revokes one API key at once, and every report download link. After the current key is revoked,
 * the account has no access until `rotateApiKey`. The owner gets an event. Revoking twice changes
 * nothing.
 * @throws NotFoundError if the account has no such key.
 */
export async function revokeApiKey(
  { _id: accountId, username }: Account,
  keyId: string,
  by: ChangedBy,
): Promise<{ changed: boolean; wasCurrent: boolean }> {
  if (!(await ApiKeyModel.findOne({ _id: keyId, accountId }, { _id: 1 }).lean())) {
    throw new NotFoundError(asWritten(`${username} has no key ${keyId}.`));
  }
  const { before, deliveries } = await writeAndInvalidate(
    [ApiKeyModel, AccountModel],
    [accountId],
    (keys, accounts) =>
      runInTransaction(async (session) => {
        const validUntil = now();
        const ended = await keys
          .findOneAndUpdate(
            { _id: keyId, accountId, $or: [{ validUntil: null }, { validUntil: { $gt: validUntil } }] },
            { $set: { validUntil } },
            { session, returnDocument: 'before' },
          )
          .lean<{ validUntil: Date | null }>();
        if (!ended) {
          return { before: null, deliveries: [] };
        }
        // Every key change writes the account, so that concurrent changes conflict.
        await accounts.updateOne(
          { _id: accountId },
          { $set: { guardedSince: validUntil }, $inc: { linkEpoch: 1 } },
          { session },
        );
        await recordAudit(session, {
          ...by,
          action: 'api-key.revoke',
          subject: { kind: 'account', id: accountId },
          before: { keyId, validUntil: ended.validUntil },
          after: { keyId, validUntil },
        });
        return { before: ended, deliveries: await notifyOwner(session, accountId, ['api_key']) };
      }),
  );
  await announceDeliveries(deliveries);
  return { changed: before !== null, wasCurrent: before?.validUntil === null };
}
