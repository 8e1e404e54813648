import { AccountModel, type Account } from '../accounts/account.model.js';
import { ApiKeyModel } from '../accounts/api-key.model.js';
import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { inTransaction } from '../database/mongo.js';
import { writeAndInvalidate } from '../redis/changing.js';
import { now } from '../shared/clock.js';
import { NotFoundError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { announceDeliveries } from './announce-deliveries.js';
import { notifyOwner } from './tell-owner.js';

/**
 * Ends one API key from the next call on, and every download link of a report; of the current key too, without a new one: the
 * account can do nothing until `rotateApiKey` makes one. Its webhook URL is told. Revoking twice changes nothing.
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
      inTransaction(async (session) => {
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
        // Every change of this kind writes the account, so that two of them never pass each other unseen.
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
