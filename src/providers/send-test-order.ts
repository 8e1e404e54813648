import type { Account } from '../accounts/account.model.js';
import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { ConflictError } from '../shared/errors.js';
import { newId } from '../shared/ids.js';
import { asWritten } from '../shared/say.js';
import type { ProviderOutcome } from './adapter.js';
import { buildConnection, getAdapter } from './get-adapter.js';
import { getKind } from './provider-kinds.js';

/**
 * Sends one order in the provider's own test mode. It writes no purchase and moves no money. The
 * adapter fixes the product, the number and the test flag, so no caller can send a real order.
 * @throws ConflictError if the kind has no test mode.
 */
export async function sendTestOrder(
  seller: Account,
  by: ChangedBy,
): Promise<{ reference: string; outcome: ProviderOutcome }> {
  if (!seller.provider) {
    throw new ConflictError(asWritten(`${seller.username} has no provider.`));
  }
  const { kind } = seller.provider;
  const { sendTestOrder: send } = getAdapter(kind);
  if (!send) {
    throw new ConflictError(asWritten(getKind(kind).testHelp.en));
  }
  const reference = `test-${newId()}`;
  const outcome = await send(buildConnection(seller), reference);
  await recordAudit(null, {
    ...by,
    action: 'provider.test-order',
    subject: { kind: 'provider', id: seller._id },
    after: { reference, outcome: outcome.outcome, code: outcome.code },
  });
  return { reference, outcome };
}
