/**
 * Rate limits for wrong passwords and codes. The limits are exact over all processes. While Redis
 * is unavailable, all logins are refused.
 */
import { createHash } from 'node:crypto';
import { recordAudit } from '../audit/record-audit.js';
import { resetRateLimit, refundRateLimit, consumeRateLimit, type Limit } from '../redis/rate-limit.js';
import { RateLimitError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';

const windowMs = 15 * 60_000;
const buildLimit = (max: number): Limit => ({ max, windowMs, refunds: true, needsRedis: true });

interface LoginAttempt {
  username: string;
  /**
   * An IPv4 address, or the /64 of an IPv6 address, because one subscriber controls the whole /64.
   */
  network: string;
  /**
   * Token of a browser that has logged in as this operator since all sessions were last ended. Null
   * for an unknown browser.
   */
  knownBrowser: string | null;
}

interface Counter {
  name: string;
  key: string;
  limit: Limit;
}

/**
 * Counts an attempt before the password is checked, so that parallel attempts cannot exceed a
 * limit. Limits are consumed in order: a refusal does not use up the next one, so one network
 * cannot lock everybody out.
 *
 * Known browsers have their own limit. All known browsers of an operator together share another
 * limit, as large as that of strangers. Neither group can lock out the other.
 *
 * @returns A function to call after a right password. It refunds the attempt and resets the first
 * limit.
 * @throws RateLimitError after too many attempts.
 * @throws DependencyError (503/03) while Redis is unavailable.
 */
export async function countLogin({
  username,
  network,
  knownBrowser,
}: LoginAttempt): Promise<() => Promise<void>> {
  const name = hashText(username);
  return count(
    knownBrowser === null
      ? [
          { name: 'name-and-network', key: `login-pair:${name}:${hashText(network)}`, limit: buildLimit(5) },
          { name: 'network', key: `login-network:${network}`, limit: buildLimit(30) },
          { name: 'name', key: `login-name:${name}`, limit: buildLimit(50) },
          { name: 'all', key: 'login-all', limit: buildLimit(300) },
        ]
      : [
          { name: 'browser', key: `login-browser:${hashText(knownBrowser)}`, limit: buildLimit(5) },
          { name: 'browsers', key: `login-browsers:${name}`, limit: buildLimit(50) },
        ],
    network,
  );
}

/** Counts an attempt with a second-factor code, or with the password that confirms a change. */
export async function countProof(
  operatorId: string,
  what: 'code' | 'password',
  network: string,
): Promise<() => Promise<void>> {
  return count([{ name: what, key: `login-${what}:${operatorId}`, limit: buildLimit(5) }], network);
}

async function count(counters: Counter[], network: string): Promise<() => Promise<void>> {
  for (const counter of counters) {
    const { accepted, resetMs } = await consumeRateLimit(counter.key, counter.limit);
    if (!accepted) {
      await recordLimit(counter, network);
      const waitS = Math.ceil(resetMs / 1_000);
      throw new RateLimitError(
        asWritten(`Too many attempts. Try again in ${Math.ceil(waitS / 60)} minutes.`),
        waitS,
      );
    }
  }
  const [own, ...shared] = counters.map(({ key }) => key);
  return async () => {
    await Promise.all([own === undefined ? null : resetRateLimit(own), ...shared.map(refundRateLimit)]);
  };
}

/** Records a refusal once per window, so that refusals do not fill the audit log. */
async function recordLimit({ name, key }: Counter, network: string): Promise<void> {
  const { accepted } = await consumeRateLimit(`told:${key}`, { max: 1, windowMs });
  if (accepted) {
    await recordAudit(null, {
      actor: 'anonymous',
      action: 'login.limited',
      subject: { kind: 'operator', id: 'unknown' },
      after: { limit: name },
      from: network,
    });
  }
}

/** Hashes an input, because a user may enter a password as the username, of any length. */
function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
