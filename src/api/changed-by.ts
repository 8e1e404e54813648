import type { ChangedBy } from '../audit/record-audit.js';
import type { Call } from './operation.js';

/** Who makes a change by this call, for the audit log. */
export function changedBy({
  account,
  address,
}: Pick<Call<never, never, never>, 'account' | 'address'>): ChangedBy {
  return { actor: `account:${account.username}`, from: address, reason: null };
}
