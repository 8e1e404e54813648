import { createHmac } from 'node:crypto';

/** Decodes the key after `whsec_`. Any other text is used as the bytes of the key. */
function webhookKey(secret: string): Buffer {
  return secret.startsWith('whsec_')
    ? Buffer.from(secret.slice('whsec_'.length), 'base64')
    : Buffer.from(secret, 'utf8');
}

/** Returns the value of `x-signature` for a raw body. */
export function signBody(secret: string, raw: Buffer | string): string {
  return `sha256=${createHmac('sha256', webhookKey(secret)).update(raw).digest('hex')}`;
}
