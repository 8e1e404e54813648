import { AccountModel, type Account } from '../accounts/account.model.js';
import type { Session } from '../database/mongo.js';
import { buildConfigUpdatedDeliveries } from './account-events.js';
import type { Delivery } from './delivery.model.js';
import { insertDeliveries } from './insert-deliveries.js';

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
