/**
 * Sends the callback of docs/reference/api/callbacks.md, signed like every callback of this
 * service.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { signBody } from '../support/webhook-signing.js';
import { serialNumberOf } from './serial-number.js';
import type { Order } from './order-book.js';

const retryAfterMs = [0, 500, 2_000, 5_000];
const timeoutMs = 5_000;

/**
 * Posts the final result until it gets a 2xx response, with at most four attempts. A lost callback
 * is harmless, because status checks determine the result. Unsent callbacks are lost when the
 * process ends.
 */
export async function sendCallback(
  order: Order,
  status: 'success' | 'failed',
  { url, secret }: { url: string; secret: string },
): Promise<void> {
  const raw = JSON.stringify({
    ref_id: order.ref_id,
    code: order.code,
    customer_number: order.customer,
    status,
    ...(status === 'success' ? { sn: serialNumberOf(order) } : {}),
    message: order.reason ?? 'Success',
  });
  for (const [index, delayMs] of retryAfterMs.entries()) {
    await wait(delayMs, undefined, { ref: false });
    const headers = {
      'content-type': 'application/json',
      'x-signature': signBody(secret, raw),
      'x-event': 'callback.reseller',
      'x-attempt': String(index + 1),
    };
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const response = await fetch(url, { method: 'POST', headers, body: raw, redirect: 'manual', signal });
      await response.body?.cancel();
      if (response.ok) {
        return;
      }
    } catch {
      // The receiver is unreachable or too slow. The next attempt follows.
    }
  }
}
