import { AccountModel, type Account } from '../account.model.js';
import { type Session, runInTransaction } from '../../database/mongo.js';
import { buildConfigUpdatedDeliveries } from '../../webhooks/account-events.js';
import type { Delivery } from '../../webhooks/deliver/delivery.model.js';
import { insertDeliveries } from '../../webhooks/new-delivery.js';
import { requireCurrentKey } from '../authenticate.js';
import { recordAudit, type ChangedBy, type NewAuditEntry } from '../../audit/record-audit.js';
import { writeAndInvalidate } from '../../redis/publish-changes.js';
import { now } from '../../shared/clock.js';
import { NotFoundError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import { createKeyedQueue } from '../../shared/concurrency.js';
import { announceDeliveries } from '../../webhooks/deliver/delivery-jobs.js';

/**
 * Writes the event that informs the owner of a guarded change. It is sent to the previous webhook
 * URL and signed with the previous secret, so that an intruder cannot suppress it.
 * @param before The account before the change. Its id is enough if URL and secret do not change.
 * @param changed Field names, never values.
 * @returns The deliveries to announce after the commit.
 */
export async function notifyOwner(
  session: Session,
  before: Account | string,
  changed: string[],
): Promise<Delivery[]> {
  const account =
    typeof before === 'string'
      ? await AccountModel.findById(before).session(session).lean<Account>()
      : before;
  const rows = account ? buildConfigUpdatedDeliveries(account, changed) : [];
  await insertDeliveries(session, rows);
  return rows;
}

/** The actor of a change. `keyId` is the API key of the call, or null for an operator. */
export type AccountChanger = ChangedBy & { keyId: string | null };

/** A change, computed from the account as the database transaction reads it. */
export interface AccountChange {
  set: Partial<Account>;
  audit: Pick<NewAuditEntry, 'action' | 'before' | 'after'>;
  /**
   * Names of the guarded fields that change, as the event reports them
   * (docs/reference/api/configuration.md#guarded-changes).
   */
  guarded: string[];
}

const runInTurn = createKeyedQueue();

/**
 * Changes an account's configuration. Every change by the account uses this function. One database
 * transaction writes the change, its audit entry, the owner's event and the start of the settlement
 * review. It also checks that the caller's key is still current.
 *
 * The owner's event is sent to the previous URLs and signed with the previous secrets.
 *
 * @param decide Computes the change. It may run twice. If it returns null, nothing changes. If it
 *   throws, the change is aborted.
 * @returns The account after the change.
 * @throws NotFoundError if there is no such account.
 * @throws SupersededKeyError (403/07) if the caller's key is not current.
 */
export async function changeAccount(
  accountId: string,
  by: AccountChanger,
  decide: (before: Account) => AccountChange | null,
): Promise<Account> {
  const { account, deliveries } = await writeAndInvalidate([AccountModel], [accountId], (accounts) =>
    runInTurn(accountId, () =>
      runInTransaction(async (session) => {
        await requireCurrentKey(session, by.keyId);
        const before = await accounts.findById(accountId).session(session).lean<Account>();
        if (!before) {
          throw new NotFoundError(say('noSuchAccount'));
        }
        const change = decide(before);
        if (change === null) {
          return { account: before, deliveries: [] };
        }
        const { set, audit, guarded } = change;
        const isGuarded = guarded.length > 0;
        await accounts.updateOne(
          { _id: accountId },
          { $set: { ...set, ...(isGuarded && { guardedSince: now() }), updatedAt: now() } },
          { session },
        );
        await recordAudit(session, { ...by, ...audit, subject: { kind: 'account', id: accountId } });
        return {
          account: { ...before, ...set },
          deliveries: isGuarded ? await notifyOwner(session, before, guarded) : [],
        };
      }),
    ),
  );
  await announceDeliveries(deliveries);
  return account;
}
