import { recordAudit, type ChangedBy } from '../../audit/record-audit.js';
import { runInTransaction } from '../../database/mongo.js';
import { writeAndInvalidate } from '../../redis/publish-changes.js';
import { now } from '../../shared/clock.js';
import { NotFoundError, ValidationError } from '../../shared/errors.js';
import { asWritten, say } from '../../shared/say.js';
import { AccountModel, type Account, type Role } from '../account.model.js';

/** Account settings that only operators change. Absent settings keep their value. */
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
 * Changes an account's operator settings and writes the audit entry. The change applies to the next
 * call in every process. Existing orders keep their commission rate, and existing purchases their
 * price.
 *
 * @returns The account after the change, and the changed settings.
 * @throws ValidationError for a setting of the other role.
 * @throws NotFoundError if there is no such account.
 */
export async function setOperatorSettings(
  accountId: string,
  settings: OperatorSettings,
  by: ChangedBy,
): Promise<{ account: Account; changed: (keyof OperatorSettings)[] }> {
  const settingNames = Object.keys(settings) as (keyof OperatorSettings)[];
  return writeAndInvalidate([AccountModel], [accountId], (accounts) =>
    runInTransaction(async (session) => {
      const before = await accounts.findById(accountId).session(session).lean<Account>();
      if (!before) {
        throw new NotFoundError(say('noSuchAccount'));
      }
      requireMatchingRole(before, settingNames);
      const changed = settingNames.filter((each) => (before[each] ?? null) !== (settings[each] ?? null));
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

function requireMatchingRole({ role, username }: Account, settingNames: (keyof OperatorSettings)[]): void {
  const wrong = settingNames.filter((each) => (settingRoles[each] ?? role) !== role);
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
 * Suspends or resumes an account. Every call of a suspended account is refused (403/07). Its
 * accepted purchases still complete, and its balance stays.
 * @returns True if this call changed the status.
 */
export async function setAccountStatus(
  account: Account,
  status: Account['status'],
  by: ChangedBy,
): Promise<boolean> {
  return writeAndInvalidate([AccountModel], [account._id], (accounts) =>
    runInTransaction(async (session) => {
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
