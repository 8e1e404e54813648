import type { Account } from '../accounts/account.model.js';
import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { enableWebhooks, listEndpoints } from './webhook-status.js';

/**
 * `enableWebhooks` for the operator: new events go out again to every URL of the account. What was held stays held until
 * it is replayed. The audit log says first what is done: forgetting failures is several writes, and safe to do again.
 * @returns How many deliveries were held meanwhile.
 */
export async function enableAsOperator(account: Account, by: ChangedBy): Promise<{ held: number }> {
  const before = (await listEndpoints(account)).map(
    ({ endpoint, health }) => `${endpoint.id} ${health.status}`,
  );
  await recordAudit(null, {
    ...by,
    action: 'webhook.enable',
    subject: { kind: 'account', id: account._id },
    before: { endpoints: before },
  });
  return enableWebhooks(account);
}
