import type { Account } from './account.model.js';
import { env } from '../../config/env.js';
import { ForbiddenError } from '../shared/errors.js';
import { say } from '../shared/say.js';

/** Calls in a minute that an account has: what it chose, but no more than the operator lets it have. */
export function getRateLimit({
  rateLimit,
  rateLimitMax,
}: Pick<Account, 'rateLimit' | 'rateLimitMax'>): number {
  return Math.min(rateLimit, rateLimitMax ?? Infinity);
}

/** The part of a seller's price that the platform keeps: its own, or that of all. A fraction. */
export function getCommissionRate({ commissionRate }: Pick<Account, 'commissionRate'>): number {
  return commissionRate ?? env.COMMISSION_RATE;
}

/** Whether it is a test account of a sandbox. */
export function isSandbox({ mode }: Pick<Account, 'mode'>): boolean {
  return env.APP_MODE === 'sandbox' && mode === 'test';
}

/** What plays a part of somebody else is for test accounts of a sandbox alone. @throws ForbiddenError (403/07, `sandbox_only`) */
export function requireSandbox(account: Pick<Account, 'mode'>): void {
  if (!isSandbox(account)) {
    throw new ForbiddenError(say('sandboxOnly'), 'sandbox_only');
  }
}
