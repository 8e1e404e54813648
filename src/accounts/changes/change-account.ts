import { AccountModel, type Account } from '../account.model.js';
import { type Session, inTransaction } from '../../database/mongo.js';
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
 * Writes, with a change of what guards an account, the event that tells its owner: to the webhook URL as it was before,
 * signed with the secret as it was before. Whoever makes the change can't take it back.
 * @param before The account before the change, or its id where URL and secret stay.
 * @param changed Names of fields; never their values.
 * @returns To be announced after the commit.
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

/** Who asks. `keyId`: the key that came with the call; null: the operator. */
export type AccountChanger = ChangedBy & { keyId: string | null };

/** What a change comes to, decided from the account as it is inside the database transaction. */
export interface AccountChange {
  set: Partial<Account>;
  audit: Pick<NewAuditEntry, 'action' | 'before' | 'after'>;
  /** What of it an intruder would change (docs/reference/api/configuration.md#guarded-changes), as the owner is told; empty: none. */
  guarded: string[];
}

const runInTurn = createKeyedQueue();

/**
 * The one way in which an account's configuration changes. The change, its entry in the audit log, the event that tells
 * the owner at the URLs as they were, signed with the secrets as they were, and the time from which settlements wait are
 * one database transaction, in which the key that asks is still the current one.
 * @param decide May run twice. Null: nothing is to be changed. What it throws ends the change.
 * @returns The account as it is afterwards.
 * @throws SupersededKeyError (403/07)
 */
export async function changeAccount(
  accountId: string,
  by: AccountChanger,
  decide: (before: Account) => AccountChange | null,
): Promise<Account> {
  const { account, deliveries } = await writeAndInvalidate([AccountModel], [accountId], (accounts) =>
    runInTurn(accountId, () =>
      inTransaction(async (session) => {
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
