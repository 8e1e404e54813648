/**
 * The reseller API: signed GET calls. The HTTP status is always 200, and the result code is in
 * `status`.
 */
import { createHmac } from 'node:crypto';
import { OutcomeUnknownError } from './errors.js';
import { requireSendable } from './key.js';
import type { components } from './schema.js';
import { requireRefId } from './ref-id.js';
import { isServiceRefusal, send, defaultOptions, type ResponseBody, type SendOptions } from './send.js';

type Schemas = components['schemas'];
type ResellerResponse<Name extends 'Request' | 'PriceList' | 'Balance'> = {
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
 * Signs a call: HMAC-SHA256 with the API key as the secret, in lower-case hex. The signed text is
 * the username and the values in `covers`, joined by `|`.
 */
export function signResellerCall(
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
    const sign = signResellerCall({ username, apiKey }, covers);
    const text = new URLSearchParams({ username, sign, ...query }).toString();
    const url = `${baseUrl.replace(/\/+$/, '')}/api/reseller/${path}?${text}`;
    const sent = await send(
      url,
      { method: 'GET' },
      { ...defaultOptions, ...options, isAnswer: isServiceResponse, isRepeatable: true },
    );
    const refId = query['ref_id'] ?? null;
    if ('lost' in sent) {
      throw new OutcomeUnknownError(path, refId, sent.lost, { isRead: refId === null });
    }
    if (refId !== null && sent.answer.lostBefore !== null && isRefusal(sent.answer.body)) {
      // The refused attempt had no effect. An earlier attempt whose response was lost may have had
      // one.
      throw new OutcomeUnknownError(path, refId, sent.answer.lostBefore);
    }
    return sent.answer.body;
  };
  return {
    /**
     * Buys a product. A call that is repeated with the same ref_id does not buy again and returns
     * the current status. `05` means that the purchase is still being processed.
     */
    request: async (order: { code: string; customer: string; ref_id: string; max_price?: number }) => {
      requireRefId(order);
      const { max_price: maxPrice, ...rest } = order;
      const query = { ...rest, ...(maxPrice !== undefined && { max_price: String(maxPrice) }) };
      return (await get(
        'request',
        [order.code, order.customer, order.ref_id],
        query,
      )) as ResellerResponse<'Request'>;
    },
    priceList: async (filter: { category?: string; operator?: string } = {}) =>
      (await get('price-list', ['pricelist'], filter)) as ResellerResponse<'PriceList'>,
    balance: async () => (await get('balance', ['depo'], {})) as ResellerResponse<'Balance'>,
  };
}

/**
 * True for a response from the service: a result code in `status`, or a refusal before the call
 * reached the reseller API. After any other response, the outcome is unknown.
 */
function isServiceResponse(httpStatus: number, answer: ResponseBody): boolean {
  const { status } = answer;
  return (
    (typeof status === 'string' && /^\d\d$/.test(status)) || (httpStatus >= 400 && isServiceRefusal(answer))
  );
}

/**
 * True if the call had no effect. A failed transaction is not a refusal, because the transaction
 * exists.
 */
function isRefusal(body: unknown): boolean {
  const { status, reason } = body as { status?: unknown; reason?: unknown };
  return status !== '00' && status !== '05' && reason !== 'transaction_failed';
}
