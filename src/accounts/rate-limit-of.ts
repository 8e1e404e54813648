import type { Account } from './account.model.js';

/** Calls in a minute that an account has: what it chose, but no more than the operator lets it have. */
export function getRateLimit({
  rateLimit,
  rateLimitMax,
}: Pick<Account, 'rateLimit' | 'rateLimitMax'>): number {
  return Math.min(rateLimit, rateLimitMax ?? Infinity);
}
