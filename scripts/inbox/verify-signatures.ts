/** Checks both signatures of a delivery: `x-signature`, and the three headers of Standard Webhooks. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { bodySignature, webhookKey } from '../support/whsec.js';

export type SignatureCheck = 'right' | 'wrong' | 'missing';

export interface Verification {
  x_signature: SignatureCheck;
  standard_webhooks: SignatureCheck;
}

interface Delivery {
  headers: IncomingHttpHeaders;
  raw: Buffer;
  /** All that may have signed: two of them while a secret is being rotated. */
  secrets: readonly string[];
  nowMs: number;
  /** How far `webhook-timestamp` may be from now. Null: as far as it likes. */
  toleranceMs: number | null;
}

export function verifySignatures(delivery: Delivery): Verification {
  return { x_signature: checkXSignature(delivery), standard_webhooks: checkStandardWebhooks(delivery) };
}

/** One right signature and no wrong one. */
export function isVerified({ x_signature: own, standard_webhooks: standard }: Verification): boolean {
  return own !== 'wrong' && standard !== 'wrong' && (own === 'right' || standard === 'right');
}

function checkXSignature({ headers, raw, secrets }: Delivery): SignatureCheck {
  const given = words(headers['x-signature']);
  if (given.length === 0) {
    return 'missing';
  }
  return secrets.some((secret) => includes(given, bodySignature(secret, raw))) ? 'right' : 'wrong';
}

function checkStandardWebhooks({ headers, raw, secrets, nowMs, toleranceMs }: Delivery): SignatureCheck {
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  const given = words(headers['webhook-signature']);
  if (id === undefined && timestamp === undefined && given.length === 0) {
    return 'missing';
  }
  if (typeof id !== 'string' || typeof timestamp !== 'string' || !/^\d{1,12}$/.test(timestamp)) {
    return 'wrong';
  }
  if (toleranceMs !== null && Math.abs(nowMs - Number(timestamp) * 1_000) > toleranceMs) {
    return 'wrong';
  }
  const isSigner = (secret: string): boolean => {
    const hmac = createHmac('sha256', webhookKey(secret)).update(`${id}.${timestamp}.`).update(raw);
    return includes(given, `v1,${hmac.digest('base64')}`);
  };
  return secrets.some(isSigner) ? 'right' : 'wrong';
}

function words(header: string | string[] | undefined): string[] {
  return typeof header === 'string' ? header.split(/\s+/).filter((word) => word !== '') : [];
}

function includes(given: string[], expected: string): boolean {
  const wanted = Buffer.from(expected);
  return given.some((word) => {
    const candidate = Buffer.from(word);
    return candidate.length === wanted.length && timingSafeEqual(candidate, wanted);
  });
}
