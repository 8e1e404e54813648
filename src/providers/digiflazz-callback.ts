import { createHmac } from 'node:crypto';
import Joi from 'joi';
import { isSameSecret } from '../shared/is-same-secret.js';
import type { ProviderAdapter } from './adapter.js';
import { parseJson, matchSchema } from './json-response.js';

const callbackStatuses = { Sukses: 'success', Gagal: 'failed', Pending: 'pending' } as const;
/** `hook` is a ping's description of the webhook. */
const callbackSchema = Joi.object<{
  hook?: object;
  data?: { ref_id: string; status: keyof typeof callbackStatuses };
}>({
  hook: Joi.object(),
  data: Joi.object({
    ref_id: Joi.string().min(1).max(64).required(),
    status: Joi.string()
      .valid(...Object.keys(callbackStatuses))
      .required(),
  }),
}).or('data', 'hook');

export function readCallback(raw: Buffer): ReturnType<ProviderAdapter['readCallback']> {
  const body = matchSchema(callbackSchema, parseJson(raw.toString('utf8')));
  if (!body) {
    return null;
  }
  return body.data
    ? { kind: 'result', providerRef: body.data.ref_id, status: callbackStatuses[body.data.status] }
    : { kind: 'ping' };
}

export function isCallbackSigned(
  ...[connection, raw, headers]: Parameters<ProviderAdapter['isCallbackSigned']>
): boolean {
  const header = headers['x-hub-signature'];
  const secret = connection.callbackSecret ?? connection.secret;
  const expected = `sha1=${createHmac('sha1', secret).update(raw).digest('hex')}`;
  return isSameSecret(typeof header === 'string' ? header : '', expected);
}
