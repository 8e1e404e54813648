import type { ChangedBy } from '../audit/record-audit.js';
import type { Call } from './operation.js';

/** Who makes a change by this call, for the audit log, and with which key. */
export function getChangedBy({
  account,
  address,
  keyId,
}: Pick<Call<never, never, never>, 'account' | 'address' | 'keyId'>): ChangedBy & { keyId: string } {
  return { actor: `account:${account.username}`, from: address, reason: null, keyId };
}
