import { createHash } from 'node:crypto';
import { env } from '../../config/env.js';
import { redis } from '../redis/connection.js';
import { logRedisError } from '../redis/connection-errors.js';
import type { Settlement } from './settlement.model.js';

type RequestFields = Pick<Settlement, 'accountId' | 'amount' | 'bankAccount'>;

/** Time in milliseconds in which the repeat of a request with an unknown outcome is refused. */
const keptMs = 60_000;

/**
 * Notes a request without ref_id whose outcome is unknown, which the client gets as 503. It may be
 * stored, so a repeat would withdraw the amount again. The note is in Redis, because the database
 * did not respond. If Redis does not respond either, the repeat is not refused.
 */
export async function noteUnknownRequest(request: RequestFields): Promise<void> {
  try {
    await redis().set(getKey(request), '1', 'PX', keptMs);
  } catch (error) {
    logRedisError('unknown settlement request not noted', error);
  }
}

/** True if the outcome of the same request was unknown less than a minute ago. */
export async function isRepeatOfUnknown(request: RequestFields): Promise<boolean> {
  try {
    return (await redis().get(getKey(request))) !== null;
  } catch (error) {
    logRedisError('unknown settlement requests not read', error);
    return false;
  }
}

function getKey({ accountId, amount, bankAccount: { bankCode, accountNumber } }: RequestFields): string {
  const fields = JSON.stringify([amount, bankCode, accountNumber]);
  const hash = createHash('sha256').update(fields).digest('hex').slice(0, 32);
  return `${env.QUEUE_PREFIX}:settlement-unknown:${accountId}:${hash}`;
}
