import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { now } from '../shared/clock.js';
import { inTransaction } from '../database/mongo.js';
import { writeAndInvalidate } from '../redis/changing.js';
import { AccountModel, type Account } from './account.model.js';

/**
 * Suspends an account, or lets it in again. A suspended one is refused at every call (403/07) from the next on;
 * purchases that were accepted still run to their end, and its money stays where it is.
 * @returns whether this changed anything.
 */
export async function setAccountStatus(
  account: Account,
  status: Account['status'],
  by: ChangedBy,
): Promise<boolean> {
  return writeAndInvalidate([AccountModel], [account._id], (accounts) =>
    inTransaction(async (session) => {
      const result = await accounts.updateOne(
        { _id: account._id, status: { $ne: status } },
        { $set: { status, updatedAt: now() } },
        { session },
      );
      if (result.modifiedCount === 0) {
        return false;
      }
      await recordAudit(session, {
        ...by,
        action: status === 'suspended' ? 'account.suspend' : 'account.resume',
        subject: { kind: 'account', id: account._id },
        before: { status: account.status },
        after: { status },
      });
      return true;
    }),
  );
}
