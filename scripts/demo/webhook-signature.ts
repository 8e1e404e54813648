/** Verifies a delivery as a customer would, using only the documentation. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

export interface Delivery {
  headers: Record<string, string>;
  /** The body as received, byte for byte. */
  raw: string;
}

/** Returns null if both signatures are valid. Otherwise returns the problem. */
export function signatureMistake({ headers, raw }: Delivery, secret: string): string | null {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = `sha256=${createHmac('sha256', key).update(raw).digest('hex')}`;
  const signatures = (headers['x-signature'] ?? '').split(' ');
  if (!signatures.some((each) => equal(each, expected))) {
    return 'x-signature does not match the body';
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
