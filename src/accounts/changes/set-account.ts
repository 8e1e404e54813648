import { recordAudit, type ChangedBy } from '../../audit/record-audit.js';
import { inTransaction } from '../../database/mongo.js';
import { writeAndInvalidate } from '../../redis/publish-changes.js';
import { now } from '../../shared/clock.js';
import { NotFoundError, ValidationError } from '../../shared/errors.js';
import { asWritten, say } from '../../shared/say.js';
import { AccountModel, type Account, type Role } from '../account.model.js';

/** What the operator alone decides of an account; left out stays as it is. */
export type OperatorSettings = Partial<
  Pick<
    Account,
    | 'requireStrongSign'
    | 'requireAck'
    | 'commissionRate'
    | 'rateLimit'
    | 'rateLimitMax'
    | 'productLimit'
    | 'priceGroup'
    | 'language'
  >
>;

const settingRoles: Partial<Record<keyof OperatorSettings, Role>> = {
  commissionRate: 'seller',
  productLimit: 'seller',
  priceGroup: 'buyer',
};

/**
 * Sets what the operator decides of an account, with its entry in the audit log. It holds for the next call in every
 * process. Orders keep the commission rate that they were made with, purchases their price.
 * @returns The account as it is afterwards, and which settings this changed.
 * @throws ValidationError for a setting of the other role. @throws NotFoundError
 */
export async function setAccount(
  accountId: string,
  settings: OperatorSettings,
  by: ChangedBy,
): Promise<{ account: Account; changed: (keyof OperatorSettings)[] }> {
  const given = Object.keys(settings) as (keyof OperatorSettings)[];
  return writeAndInvalidate([AccountModel], [accountId], (accounts) =>
    inTransaction(async (session) => {
      const before = await accounts.findById(accountId).session(session).lean<Account>();
      if (!before) {
        throw new NotFoundError(say('noSuchAccount'));
      }
      requireMatchingRole(before, given);
      const changed = given.filter((each) => (before[each] ?? null) !== (settings[each] ?? null));
      const account: Account = { ...before, ...settings };
      if (changed.length > 0) {
        const values = (of: Account) => Object.fromEntries(changed.map((each) => [each, of[each] ?? null]));
        await accounts.updateOne(
          { _id: accountId },
          { $set: { ...values(account), updatedAt: now() } },
          { session },
        );
        await recordAudit(session, {
          ...by,
          action: 'account.set',
          subject: { kind: 'account', id: accountId },
          before: values(before),
          after: values(account),
        });
      }
      return { account, changed };
    }),
  );
}

function requireMatchingRole({ role, username }: Account, given: (keyof OperatorSettings)[]): void {
  const wrong = given.filter((each) => (settingRoles[each] ?? role) !== role);
  if (wrong.length > 0) {
    throw new ValidationError(
      wrong.map((field) => ({
        field,
        message: asWritten(`${field} is a setting of ${settingRoles[field]}s; ${username} is a ${role}`),
      })),
    );
  }
}

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
