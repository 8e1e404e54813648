/** The reseller surface: signed GET calls, always HTTP 200, with the code in `status`. */
import { createHmac } from 'node:crypto';
import { OutcomeUnknownError } from './errors.js';
import { requireSendable } from './key.js';
import type { components } from './schema.js';
import { requireRefId } from './ref-id.js';
import { isServiceRefusal, send, usual, type Answer, type SendOptions } from './send.js';

type Schemas = components['schemas'];
type Answered<Name extends 'Request' | 'PriceList' | 'Balance'> = {
  Request: Schemas['CreateResellerRequestResponse'] | Schemas['CreateResellerRequestRefusal'];
  PriceList: Schemas['GetResellerPriceListResponse'] | Schemas['GetResellerPriceListRefusal'];
  Balance: Schemas['GetResellerBalanceResponse'] | Schemas['GetResellerBalanceRefusal'];
}[Name];

export interface ResellerOptions extends Partial<SendOptions> {
  baseUrl: string;
  username: string;
  apiKey: string;
}

/**
 * HMAC-SHA256 with the API key, in lower-case hex, over the username and the covered values, joined
 * by `|`.
 */
export function resellerSign(
  { username, apiKey }: { username: string; apiKey: string },
  covers: string[],
): string {
  return createHmac('sha256', apiKey)
    .update([username, ...covers].join('|'))
    .digest('hex');
}

export function createResellerClient({ baseUrl, username, apiKey, ...options }: ResellerOptions) {
  requireSendable(apiKey);
  const get = async (path: string, covers: string[], query: Record<string, string>): Promise<unknown> => {
    const sign = resellerSign({ username, apiKey }, covers);
    const text = new URLSearchParams({ username, sign, ...query }).toString();
    const url = `${baseUrl.replace(/\/+$/, '')}/api/reseller/${path}?${text}`;
    const sent = await send(url, { method: 'GET' }, { ...usual, ...options, isAnswer, isRepeatable: true });
    const refId = query['ref_id'] ?? null;
    if ('lost' in sent) {
      throw new OutcomeUnknownError(path, refId, sent.lost, { isRead: refId === null });
    }
    if (refId !== null && sent.answer.lostBefore !== null && isRefusal(sent.answer.body)) {
      // This attempt had no effect, but a lost earlier attempt may have had one.
      throw new OutcomeUnknownError(path, refId, sent.answer.lostBefore);
    }
    return sent.answer.body;
  };
  return {
    /** Buys, once per ref_id. Repeat the call to check the status; `05` means processing. */
    request: async (order: { code: string; customer: string; ref_id: string; max_price?: number }) => {
      requireRefId(order);
      const { max_price: maxPrice, ...rest } = order;
      const query = { ...rest, ...(maxPrice !== undefined && { max_price: String(maxPrice) }) };
      return (await get('request', [order.code, order.customer, order.ref_id], query)) as Answered<'Request'>;
    },
    priceList: async (filter: { category?: string; operator?: string } = {}) =>
      (await get('price-list', ['pricelist'], filter)) as Answered<'PriceList'>,
    balance: async () => (await get('balance', ['depo'], {})) as Answered<'Balance'>,
  };
}

/**
 * True for an answer of the service: a code in `status`, or a refusal before the reseller surface.
 * Any other answer leaves the outcome unknown.
 */
function isAnswer(httpStatus: number, answer: Answer): boolean {
  const { status } = answer;
  return (
    (typeof status === 'string' && /^\d\d$/.test(status)) || (httpStatus >= 400 && isServiceRefusal(answer))
  );
}

/** True if the call had no effect. A failed transaction exists. */
function isRefusal(body: unknown): boolean {
  const { status, reason } = body as { status?: unknown; reason?: unknown };
  return status !== '00' && status !== '05' && reason !== 'transaction_failed';
}
