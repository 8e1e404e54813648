import { createHash } from 'node:crypto';
import { RateLimitError, UnauthorizedError } from '../shared/errors.js';
import { logger } from '../shared/logger.js';
import { forgetTaken, giveBack, takeFromLimit, type Limit } from '../redis/take-from-limit.js';
import { OperatorModel, type Operator } from './operator.model.js';
import { isRightPassword, passwordLengthMax } from './password.js';

const windowMs = 15 * 60_000;
/** Wrong passwords for one username from one address. */
const nameLimit: Limit = { max: 5, windowMs, refunds: true };
/** Wrong passwords from one address, whatever the username. */
const addressLimit: Limit = { max: 30, windowMs, refunds: true };

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
  // Hashed: what somebody typed as a name may be a password.
  const nameKey = `login-name:${createHash('sha256').update(`${address} ${username}`).digest('hex')}`;
  const addressKey = `login-address:${address}`;
  await Promise.all([countAttempt(nameKey, nameLimit), countAttempt(addressKey, addressLimit)]);
  const operator = await OperatorModel.findOne({ username }).lean<Operator>();
  const right = await isRightPassword(
    operator?.passwordHash ?? null,
    password.slice(0, passwordLengthMax + 1),
  );
  if (!operator || !right) {
    logger.warn('operator login refused', { address });
    throw new UnauthorizedError('The username or the password is wrong.');
  }
  await Promise.all([forgetTaken(nameKey), giveBack(addressKey)]);
  logger.info('operator logged in', { operator: operator.username, role: operator.role, address });
  return operator;
}

async function countAttempt(key: string, limit: Limit): Promise<void> {
  const { accepted, resetMs } = await takeFromLimit(key, limit);
  if (!accepted) {
    const waitS = Math.ceil(resetMs / 1_000);
    throw new RateLimitError(`Too many attempts. Try again in ${Math.ceil(waitS / 60)} minutes.`, waitS);
  }
}
