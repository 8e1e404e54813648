/** Checks a delivery as a customer would, with what the documentation says and nothing of ours. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

export interface Delivery {
  headers: Record<string, string>;
  /** The body as it came, byte for byte. */
  raw: string;
}

/** Null if both signatures are right, otherwise what is wrong. */
export function signatureMistake({ headers, raw }: Delivery, secret: string): string | null {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = `sha256=${createHmac('sha256', key).update(raw).digest('hex')}`;
  const given = (headers['x-signature'] ?? '').split(' ');
  if (!given.some((each) => equal(each, expected))) {
    return 'x-signature does not fit the body';
  }
  try {
    new Webhook(secret).verify(raw, headers);
    return null;
  } catch (error) {
    return `webhook-signature: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function equal(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
