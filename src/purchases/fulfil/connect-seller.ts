import { randomBytes } from 'node:crypto';
import { createAccount } from '../../accounts/create-account.js';
import { AccountModel, type Account } from '../../accounts/account.model.js';
import type { ChangedBy } from '../../audit/record-audit.js';
import { checkConnection, type NewConnection } from '../../providers/check-connection.js';
import { buildCallbackUrl, getKind } from '../../providers/provider-kinds.js';
import { ConflictError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import { setConnection } from './set-connection.js';

export interface ConnectedSeller {
  /** The key of a new seller, which is shown only once. Null for a seller that existed. */
  apiKey: string | null;
  /** In rupiah. Null if it could not be read. */
  balance: number | null;
  problem: string | null;
  callbackUrl: string | null;
  /** The secret to enter at the provider. Null if the provider or our own secret signs callbacks. */
  callbackSecret: string | null;
}

/**
 * Checks a connection and stores it, for a new or an existing seller.
 * @param anyway Stores the connection also if the check fails. By default nothing is stored then.
 * @throws ConflictError if the check fails, with the cause as far as it can be determined.
 */
export async function connectSeller(
  username: string,
  { anyway, ...connection }: NewConnection & { anyway: boolean },
  by: ChangedBy,
): Promise<ConnectedSeller> {
  const check = await checkConnection(connection);
  if (!check.ok && !anyway) {
    throw new ConflictError(asWritten(`Nothing was stored. ${check.problem}`));
  }
  const { kind } = connection;
  const callbackUrl = buildCallbackUrl(kind);
  const callbackSecret = getKind(kind).choosesCallbackSecret ? randomBytes(24).toString('hex') : null;
  const existing = await AccountModel.findOne({ username }).lean<Account>();
  const provider = { ...connection, ...(callbackSecret !== null && { callbackSecret }) };
  let apiKey: string | null = null;
  if (existing) {
    await setConnection(existing, provider, by);
  } else {
    ({ apiKey } = await createAccount({ username, role: 'seller', provider }, by));
  }
  return {
    apiKey,
    balance: check.ok ? check.balance : null,
    problem: check.ok ? null : check.problem,
    callbackUrl,
    callbackSecret,
  };
}
