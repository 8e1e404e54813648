import { createHmac } from 'node:crypto';

/** The key of a webhook secret: the decoded bytes after `whsec_`; any other text stands for its own bytes. */
function webhookKey(secret: string): Buffer {
  return secret.startsWith('whsec_')
    ? Buffer.from(secret.slice('whsec_'.length), 'base64')
    : Buffer.from(secret, 'utf8');
}

/** The value of the header `x-signature` for a raw body. */
export function bodySignature(secret: string, raw: Buffer | string): string {
  return `sha256=${createHmac('sha256', webhookKey(secret)).update(raw).digest('hex')}`;
}
