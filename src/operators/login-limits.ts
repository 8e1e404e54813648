/** How many wrong passwords and codes are looked at. Exact over all processes; while Redis is away nobody logs in. */
import { createHash } from 'node:crypto';
import { recordAudit } from '../audit/record-audit.js';
import { resetRateLimit, refundRateLimit, consumeRateLimit, type Limit } from '../redis/rate-limit.js';
import { RateLimitError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';

const windowMs = 15 * 60_000;
const limit = (max: number): Limit => ({ max, windowMs, refunds: true, needsRedis: true });

interface LoginAttempt {
  username: string;
  /** An IPv4 address, or the /64 of an IPv6 one: a subscriber has all of it. */
  network: string;
  /** What a browser keeps that has logged in as this operator since all sessions were ended last; null for any other. */
  knownBrowser: string | null;
}

interface Counter {
  name: string;
  key: string;
  limit: Limit;
}

/**
 * Counts an attempt before the password is looked at, so that many at once cannot pass. One after the other: what one
 * limit refuses does not use up the next, so that a single network cannot lock everybody out. A browser that has logged
 * in before counts for itself, and all of an operator's together have what strangers have for the name: these cannot lock each other out.
 * @returns gives the attempt back, because the password was right; the first limit is whole again.
 * @throws RateLimitError after too many; DependencyError (503/03) while Redis is away.
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
          { name: 'name-and-network', key: `login-pair:${name}:${hashText(network)}`, limit: limit(5) },
          { name: 'network', key: `login-network:${network}`, limit: limit(30) },
          { name: 'name', key: `login-name:${name}`, limit: limit(50) },
          { name: 'all', key: 'login-all', limit: limit(300) },
        ]
      : [
          { name: 'browser', key: `login-browser:${hashText(knownBrowser)}`, limit: limit(5) },
          { name: 'browsers', key: `login-browsers:${name}`, limit: limit(50) },
        ],
    network,
  );
}

/** The same for codes of the second factor, and for the password that a logged-in operator confirms a change with. */
export async function countProof(
  operatorId: string,
  what: 'code' | 'password',
  network: string,
): Promise<() => Promise<void>> {
  return count([{ name: what, key: `login-${what}:${operatorId}`, limit: limit(5) }], network);
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

/** Once a window: refusals must not fill the audit log. */
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

/** What somebody typed as a name may be a password, and is of any length. */
function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
