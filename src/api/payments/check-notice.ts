import { createHmac } from 'node:crypto';
import { isSameSecret } from '../../shared/is-same-secret.js';
import { nowMs } from '../../shared/clock.js';
import { UnauthorizedError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';

/** An older notice may be one that somebody has recorded. */
const ageMaxMs = 5 * 60_000;

/**
 * Whether a notice was signed by who knows the secret, and lately (docs/reference/api/deposits.md#payment-notifications).
 * @throws UnauthorizedError (401/07).
 */
export function checkNotice(
  notice: { raw: Buffer; timestamp: string | undefined; signature: string | undefined },
  secret: string,
): void {
  const { raw, timestamp = '', signature = '' } = notice;
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(nowMs() - Number(timestamp) * 1_000) > ageMaxMs) {
    throw new UnauthorizedError(say('timestampWrong'), 'invalid_signature');
  }
  const [, given = ''] = /^sha256=([0-9a-f]{64})$/.exec(signature) ?? [];
  const right = createHmac('sha256', secret).update(`${timestamp}.`).update(raw).digest();
  if (!isSameSecret(Buffer.from(given, 'hex'), right)) {
    throw new UnauthorizedError(say('signatureWrong'), 'invalid_signature');
  }
}
