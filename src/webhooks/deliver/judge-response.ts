import type { Ack } from './delivery.model.js';
import type { SendResult } from './send-request.js';

/**
 * The result of an attempt.
 *
 * - failed, timeout, unreached: retried.
 * - gone (410): disables the URL.
 * - blocked: holds the delivery, because a retry would fail in the same way.
 * - removed: drops the delivery, because its endpoint was removed.
 * - unsent: no attempt, because the service's own proxy is unavailable.
 */
export interface Verdict {
  outcome: 'delivered' | 'failed' | 'timeout' | 'gone' | 'blocked' | 'removed' | 'unreached' | 'unsent';
  httpStatus: number | null;
  ack: Ack | null;
  /** The error as text for the account. Null if delivered. */
  error: string | null;
}

/**
 * Judges a response. A 2xx counts as delivered, unless its JSON `status` differs from `received`.
 * If the account has `requireAck` (topup account set), the status must be present.
 */
export function judgeResponse(result: SendResult, requireAck: boolean): Verdict {
  if (result.kind !== 'answered') {
    const httpStatus = result.kind === 'timeout' ? result.httpStatus : null;
    return { outcome: result.kind, httpStatus, ack: null, error: result.error };
  }
  const { httpStatus } = result;
  if (httpStatus === 410) {
    return { outcome: 'gone', httpStatus, ack: null, error: 'returned 410 Gone: the URL was disabled' };
  }
  if (httpStatus < 200 || httpStatus > 299) {
    const redirect = httpStatus >= 300 && httpStatus <= 399 ? ' (redirects are not followed)' : '';
    return { outcome: 'failed', httpStatus, ack: null, error: `returned ${httpStatus}${redirect}` };
  }
  const ack = readAck(result.answer);
  if (ack === 'negative') {
    return { outcome: 'failed', httpStatus, ack, error: 'the status in the response is not "received"' };
  }
  if (ack === 'missing' && requireAck) {
    return { outcome: 'failed', httpStatus, ack, error: 'the response has no status "received"' };
  }
  return { outcome: 'delivered', httpStatus, ack, error: null };
}

function readAck(answer: Buffer): Ack {
  // Skip parsing for an empty body and for HTML.
  if (answer[0] === undefined || answer[0] === 0x3c) {
    return 'missing';
  }
  try {
    const parsed: unknown = JSON.parse(answer.toString('utf8'));
    if (parsed === null || typeof parsed !== 'object' || !('status' in parsed)) {
      return 'missing';
    }
    if (typeof parsed.status !== 'string') {
      return 'missing';
    }
    return parsed.status === 'received' ? 'received' : 'negative';
  } catch {
    return 'missing';
  }
}
