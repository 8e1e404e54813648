/**
 * Verifies both signatures of a delivery: `x-signature` and the three headers of Standard Webhooks.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { verifyWebhook } from '../../packages/client-node/src/webhooks.js';
import { isSameSecret } from '../../src/shared/is-same-secret.js';
import { signBody } from '../support/webhook-signing.js';

export type SignatureCheck = 'right' | 'wrong' | 'missing';

export interface Verification {
  x_signature: SignatureCheck;
  standard_webhooks: SignatureCheck;
}

interface Delivery {
  headers: IncomingHttpHeaders;
  raw: Buffer;
  /** All valid secrets. There are two during a rotation. */
  secrets: readonly string[];
  nowMs: number;
  /** Maximum difference between `webhook-timestamp` and now. Null if unlimited. */
  toleranceMs: number | null;
}

export function verifySignatures(delivery: Delivery): Verification {
  return { x_signature: checkXSignature(delivery), standard_webhooks: checkStandardWebhooks(delivery) };
}

/** True if at least one signature is valid and none is invalid. */
export function isVerified({ x_signature: own, standard_webhooks: standard }: Verification): boolean {
  return own !== 'wrong' && standard !== 'wrong' && (own === 'right' || standard === 'right');
}

function checkXSignature({ headers, raw, secrets }: Delivery): SignatureCheck {
  const signatures = words(headers['x-signature']);
  if (signatures.length === 0) {
    return 'missing';
  }
  const isSigner = (secret: string): boolean =>
    signatures.some((each) => isSameSecret(each, signBody(secret, raw)));
  return secrets.some(isSigner) ? 'right' : 'wrong';
}

function checkStandardWebhooks({ headers, raw, secrets, nowMs, toleranceMs }: Delivery): SignatureCheck {
  if (['webhook-id', 'webhook-timestamp', 'webhook-signature'].every((name) => !headers[name])) {
    return 'missing';
  }
  const toleranceS = toleranceMs === null ? Infinity : toleranceMs / 1_000;
  const isSigner = (secret: string): boolean => {
    try {
      verifyWebhook({ headers, body: raw }, { secret, toleranceS, nowS: nowMs / 1_000 });
      return true;
    } catch {
      return false;
    }
  };
  return secrets.some(isSigner) ? 'right' : 'wrong';
}

function words(header: string | string[] | undefined): string[] {
  return typeof header === 'string' ? header.split(/\s+/).filter((word) => word !== '') : [];
}
