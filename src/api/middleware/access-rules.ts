import type { RequestHandler, Response } from 'express';
import type { Account } from '../../accounts/account.model.js';
import { isOnAllowlist } from '../../accounts/ip-allowlist.js';
import { ForbiddenError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import { getClientAddress } from './address.js';
import { getAuthenticated } from './authenticate.js';
import { limitRate } from './rate-limit.js';

/** What an account's own settings let through, after its key was found good (docs/reference/api/authentication.md#access-rules). */
export const accessRules: RequestHandler = async (request, response, next) => {
  await applyAccessRules(getAuthenticated(response).account, getClientAddress(request), response);
  next();
};

/**
 * The address comes first, so that a stranger with a stolen key uses none of the account's limit.
 * @throws ForbiddenError (403/07) for an address that is not on the account's list, RateLimitError (429/06).
 */
export async function applyAccessRules(account: Account, address: string, response: Response): Promise<void> {
  requireAllowedAddress(account, address);
  await limitRate(account, response);
}

/** @throws ForbiddenError (403/07) for an address that is not on the account's list, or no account. */
export function requireAllowedAddress(account: Account | null, address: string): void {
  if (!account || !isOnAllowlist(account.ipWhitelist, address)) {
    throw new ForbiddenError(say('addressNotAllowed', { address }), 'address_not_allowed');
  }
}
