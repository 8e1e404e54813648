import { createHmac } from 'node:crypto';
import Joi from 'joi';
import { isSameSecret } from '../shared/is-same-secret.js';
import type { ProviderAdapter } from './adapter.js';
import { parseJson, matchSchema } from './json-response.js';

const callbackSchema = Joi.object<{ ref_id: string; status: 'success' | 'failed' | 'pending' }>({
  ref_id: Joi.string().min(1).max(64).required(),
  status: Joi.string().valid('success', 'failed', 'pending').required(),
});

export function readCallback(raw: Buffer): ReturnType<ProviderAdapter['readCallback']> {
  const body = matchSchema(callbackSchema, parseJson(raw.toString('utf8')));
  return body && { kind: 'result', providerRef: body.ref_id, status: body.status };
}

/**
 * Verifies `x-signature: sha256=<hex>`. While the provider rotates its secret, the header has two
 * signatures.
 */
export function isCallbackSigned(
  ...[connection, raw, headers]: Parameters<ProviderAdapter['isCallbackSigned']>
): boolean {
  const header = headers['x-signature'];
  if (typeof header !== 'string') {
    return false;
  }
  const secret = connection.callbackSecret ?? connection.secret;
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : secret;
  const expected = `sha256=${createHmac('sha256', key).update(raw).digest('hex')}`;
  return header.split(' ').some((each) => isSameSecret(each, expected));
}
