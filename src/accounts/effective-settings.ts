import type { Account } from './account.model.js';
import { env } from '../../config/env.js';
import { ForbiddenError } from '../shared/errors.js';
import { say } from '../shared/say.js';

/**
 * Returns the account's calls per minute: the account's own setting, limited by the operator's
 * maximum.
 */
export function getRateLimit({
  rateLimit,
  rateLimitMax,
}: Pick<Account, 'rateLimit' | 'rateLimitMax'>): number {
  return Math.min(rateLimit, rateLimitMax ?? Infinity);
}

/** Returns the fraction of a seller's price that the platform keeps. */
export function getCommissionRate({ commissionRate }: Pick<Account, 'commissionRate'>): number {
  return commissionRate ?? env.COMMISSION_RATE;
}

/** True for a test account of a sandbox. */
export function isSandbox({ mode }: Pick<Account, 'mode'>): boolean {
  return env.APP_MODE === 'sandbox' && mode === 'test';
}

/**
 * Allows simulations only for test accounts of a sandbox.
 * @throws ForbiddenError (403/07, `sandbox_only`) for any other account.
 */
export function requireSandbox(account: Pick<Account, 'mode'>): void {
  if (!isSandbox(account)) {
    throw new ForbiddenError(say('sandboxOnly'), 'sandbox_only');
  }
}
