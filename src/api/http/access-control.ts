import { setTimeout } from 'node:timers/promises';
import type { Response, RequestHandler } from 'express';
import { limits } from '../../../config/limits.js';
import type { Account } from '../../accounts/account.model.js';
import { getRateLimit } from '../../accounts/effective-settings.js';
import { RateLimitError, UnauthorizedError, ForbiddenError } from '../../shared/errors.js';
import { say, type Message } from '../../shared/say.js';
import { consumeRateLimit, type RateLimitResult } from '../../redis/rate-limit.js';
import { getSubscriberNetwork, getClientAddress } from './read-request.js';
import { authenticate, type AuthenticatedCaller } from '../../accounts/authenticate.js';
import { failWhenMongoIsDown } from './mongo-timeout.js';
import { getRequestContext } from './request-context.js';
import { isOnAllowlist } from '../../accounts/ip-allowlist.js';

const windowMs = 60_000;

/**
 * Counts a call of an account across all surfaces and web processes, and sets the RateLimit
 * headers.
 * @throws RateLimitError (429/06) above the account's `rate_limit` per minute.
 */
export async function limitRate(account: Account, response: Response): Promise<void> {
  const taken = await consumeRateLimit(`rate:${account._id}`, { max: getRateLimit(account), windowMs });
  response.setHeader('RateLimit-Limit', taken.limit);
  response.setHeader('RateLimit-Remaining', taken.remaining);
  response.setHeader('RateLimit-Reset', getResetSeconds(taken));
  throwIfExceeded(taken, say('tooManyCalls', { limit: taken.limit, seconds: getResetSeconds(taken) }));
}

/**
 * Awaits an authentication and counts failures per address. A successful authentication passes even
 * after too many failures.
 * @param kind Name of the counter. The callbacks of each provider protocol have their own.
 * @throws RateLimitError (429/06) instead of UnauthorizedError from the 21st failure in a minute.
 */
export async function limitFailedAuthentication<T>(
  address: string,
  authentication: Promise<T>,
  kind = 'bad-keys',
): Promise<T> {
  const startedAt = performance.now();
  try {
    return await authentication;
  } catch (error) {
    if (error instanceof UnauthorizedError) {
      const taken = await consumeRateLimit(`${kind}:${getSubscriberNetwork(address)}`, {
        max: limits.failedAuthenticationsMax,
        windowMs,
      });
      // Known keys are found in memory, and unknown keys need a database query. The minimum
      // response time hides the difference.
      await setTimeout(Math.max(0, limits.refusalFloorMs - (performance.now() - startedAt)));
      throwIfExceeded(taken, say('tooManyBadKeys', { seconds: getResetSeconds(taken) }));
    }
    throw error;
  }
}

function throwIfExceeded(taken: RateLimitResult, message: Message): void {
  if (!taken.accepted) {
    throw new RateLimitError(message, getResetSeconds(taken));
  }
}

function getResetSeconds({ resetMs }: RateLimitResult): number {
  return Math.ceil(resetMs / 1_000);
}

/**
 * Authenticates the bearer key or access token (docs/reference/api/authentication.md).
 * Responds 401/07 if the credential is missing or invalid, and 429/06 after too many failures from
 * one address. A valid credential is never limited.
 */
export const authenticateRequest: RequestHandler = async (request, response, next) => {
  const match = /^Bearer +(\S+)$/i.exec(request.get('authorization') ?? '');
  if (!match?.[1]) {
    throw new UnauthorizedError(say('sendApiKey'), 'credentials_missing');
  }
  const known = failWhenMongoIsDown(authenticate(match[1]));
  const found = await limitFailedAuthentication(getClientAddress(request), known);
  response.locals['authenticated'] = found;
  getRequestContext(response).accountId = found.account._id;
  next();
};

export function getAuthenticated(response: Response): AuthenticatedCaller {
  return response.locals['authenticated'] as AuthenticatedCaller;
}

/**
 * Applies the account's own settings after authentication
 * (docs/reference/api/authentication.md#access-rules).
 */
export const accessRules: RequestHandler = async (request, response, next) => {
  await applyAccessRules(getAuthenticated(response).account, getClientAddress(request), response);
  next();
};

/**
 * Checks the address before the rate limit, so that a stolen key does not consume the limit from a
 * foreign address.
 * @throws ForbiddenError (403/07) if the address is not on the account's allowlist.
 * @throws RateLimitError (429/06) if the account has exceeded its rate limit.
 */
export async function applyAccessRules(account: Account, address: string, response: Response): Promise<void> {
  requireAllowedAddress(account, address);
  await limitRate(account, response);
}

/**
 * @throws ForbiddenError (403/07) if there is no account, or if the address is not on its
 * allowlist.
 */
export function requireAllowedAddress(account: Account | null, address: string): void {
  if (!account || !isOnAllowlist(account.ipWhitelist, address)) {
    throw new ForbiddenError(say('addressNotAllowed', { address }), 'address_not_allowed');
  }
}
