import { toPrintable } from '../../shared/printable.js';
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
 * Values of `status` by which a receiver says that it did not take the event, in lower case. Any
 * other value, such as `ok`, says no more than the HTTP status does.
 */
const refusals: ReadonlySet<string> = new Set(
  [
    ['error', 'err', 'fail', 'failed', 'failure', 'gagal', 'ko', 'nok', 'nack', 'not ok', 'not_ok'],
    ['rejected', 'reject', 'refused', 'denied', 'ditolak', 'invalid', 'unauthorized', 'forbidden'],
    ['not received', 'not_received', 'retry', 'busy', 'unavailable', 'false', 'exception'],
  ].flat(),
);

/**
 * Judges a response. A 2xx counts as delivered, unless its JSON `status` is a refusal. If the
 * account has `requireAck` (topup account set), the status must be exactly `received`.
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
  const { ack, status } = readAck(result.answer);
  const found = status === null ? 'it has no such status' : `its status is ${JSON.stringify(status)}`;
  if (ack === 'negative') {
    return { outcome: 'failed', httpStatus, ack, error: `the receiver refused the event: ${found}` };
  }
  if (ack === 'missing' && requireAck) {
    const error = `this account requires the response {"status":"received"} (require_ack), and ${found}`;
    return { outcome: 'failed', httpStatus, ack, error };
  }
  return { outcome: 'delivered', httpStatus, ack, error: null };
}

/** Returns the acknowledgement, and the start of the `status` if the response has one. */
function readAck(answer: Buffer): { ack: Ack; status: string | null } {
  const text = answer.toString('utf8').replace(/^\ufeff/, '');
  // Skip parsing for an empty body and for HTML.
  const status = text === '' || text.startsWith('<') ? null : readStatus(text);
  if (status === null) {
    return { ack: 'missing', status };
  }
  const isRefusal = refusals.has(status.trim().toLowerCase());
  const ack = status === 'received' ? 'received' : isRefusal ? 'negative' : 'missing';
  return { ack, status: toPrintable(status.slice(0, 40)) };
}

function readStatus(text: string): string | null {
  try {
    const parsed: unknown = JSON.parse(text);
    const status: unknown =
      parsed !== null && typeof parsed === 'object' && 'status' in parsed ? parsed.status : null;
    return typeof status === 'string' ? status : null;
  } catch {
    return null;
  }
}
