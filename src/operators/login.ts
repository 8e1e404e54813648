import { createHash } from 'node:crypto';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { env } from '../../config/env.js';
import { RateLimitError, UnauthorizedError } from '../shared/errors.js';
import { logger } from '../shared/logger.js';
import { redis } from '../redis/connection.js';
import { OperatorModel, type Operator } from './operator.model.js';
import { isRightPassword, passwordLengthMax } from './password.js';

const windowS = 15 * 60;
/** Wrong passwords for one username from one address. */
const attemptsPerNameMax = 5;
/** Wrong passwords from one address, whatever the username. */
const attemptsPerAddressMax = 30;

/**
 * The operator with this name and password.
 * Attempts are counted before the password is looked at, so that many at once cannot pass the limit; a right
 * one takes its own attempts back. Without Redis each process counts by itself.
 * @throws UnauthorizedError for a wrong name or password, without telling which.
 * @throws RateLimitError after too many wrong ones.
 */
export async function login(attempt: {
  username: string;
  password: string;
  address: string;
}): Promise<Operator> {
  const { username, password, address } = attempt;
  const limiters = limitersOf();
  // Hashed: what somebody typed as a name may be a password.
  const name = createHash('sha256').update(`${address} ${username}`).digest('hex');
  await Promise.all([consume(limiters.byName, name), consume(limiters.byAddress, address)]);
  const operator = await OperatorModel.findOne({ username }).lean<Operator>();
  const right = await isRightPassword(
    operator?.passwordHash ?? null,
    password.slice(0, passwordLengthMax + 1),
  );
  if (!operator || !right) {
    logger.warn('operator login refused', { address });
    throw new UnauthorizedError('The username or the password is wrong.');
  }
  await Promise.all([limiters.byName.delete(name), limiters.byAddress.reward(address, 1)]);
  logger.info('operator logged in', { operator: operator.username, role: operator.role, address });
  return operator;
}

async function consume(limiter: RateLimiterRedis, key: string): Promise<void> {
  try {
    await limiter.consume(key);
  } catch (refusal) {
    if (refusal instanceof RateLimiterRes) {
      const waitS = Math.ceil(refusal.msBeforeNext / 1_000);
      throw new RateLimitError(`Too many attempts. Try again in ${Math.ceil(waitS / 60)} minutes.`, waitS);
    }
    throw refusal;
  }
}

let limiters: { byName: RateLimiterRedis; byAddress: RateLimiterRedis } | null = null;

function limitersOf() {
  limiters ??= {
    byName: limiter('login-name', attemptsPerNameMax),
    byAddress: limiter('login-address', attemptsPerAddressMax),
  };
  return limiters;
}

function limiter(name: string, points: number): RateLimiterRedis {
  return new RateLimiterRedis({
    storeClient: redis(),
    keyPrefix: `${env.QUEUE_PREFIX}:${name}`,
    points,
    duration: windowS,
    insuranceLimiter: new RateLimiterMemory({ points, duration: windowS }),
  });
}
