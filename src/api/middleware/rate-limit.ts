import { setTimeout } from 'node:timers/promises';
import type { Response } from 'express';
import { limits } from '../../../config/limits.js';
import type { Account } from '../../accounts/account.model.js';
import { getRateLimit } from '../../accounts/rate-limit-of.js';
import { RateLimitError, UnauthorizedError } from '../../shared/errors.js';
import { say, type Message } from '../../shared/say.js';
import { consumeRateLimit, type Taken } from '../../redis/take-from-limit.js';
import { getSubscriberNetwork } from './address.js';

const windowMs = 60_000;

/**
 * Counts a call of an account, all surfaces and web processes together, and tells in the RateLimit headers where it
 * stands.
 * @throws RateLimitError (429/06) over the account's `rate_limit` in a minute.
 */
export async function limitRate(account: Account, response: Response): Promise<void> {
  const taken = await consumeRateLimit(`rate:${account._id}`, { max: getRateLimit(account), windowMs });
  response.setHeader('RateLimit-Limit', taken.limit);
  response.setHeader('RateLimit-Remaining', taken.remaining);
  response.setHeader('RateLimit-Reset', getResetSeconds(taken));
  throwIfExceeded(taken, say('tooManyCalls', { limit: taken.limit, seconds: getResetSeconds(taken) }));
}

/**
 * Passes a good authentication on, however many bad ones came from the same address; a bad one is counted.
 * @param kind What is counted apart: each provider's callbacks have a limit of their own.
 * @throws RateLimitError (429/06) instead of UnauthorizedError from the 21st bad one in a minute.
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
      // What is known is found in memory, what is unknown in the database.
      await setTimeout(Math.max(0, limits.refusalFloorMs - (performance.now() - startedAt)));
      throwIfExceeded(taken, say('tooManyBadKeys', { seconds: getResetSeconds(taken) }));
    }
    throw error;
  }
}

function throwIfExceeded(taken: Taken, message: Message): void {
  if (!taken.accepted) {
    throw new RateLimitError(message, getResetSeconds(taken));
  }
}

function getResetSeconds({ resetMs }: Taken): number {
  return Math.ceil(resetMs / 1_000);
}
