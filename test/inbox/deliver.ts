import { createHmac, randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { RunningInbox } from '../support/inbox.js';

export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** Computes the signature as documented, independently of the inbox's code. */
export function signBody(secret: string, raw: string): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  return `sha256=${createHmac('sha256', key).update(raw).digest('hex')}`;
}

/** Builds the three Standard Webhooks headers with the public package. */
export function standardHeaders(secret: string, raw: string, at = new Date()): Record<string, string> {
  const id = 'msg_1';
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(id, at, raw),
  };
}

export function post(
  inbox: RunningInbox,
  path: string,
  raw: string,
  { headers = {}, timeoutMs = 5_000 }: { headers?: Record<string, string>; timeoutMs?: number } = {},
): Promise<Response> {
  return fetch(`${inbox.url}${path}`, {
    method: 'POST',
    body: raw,
    headers: { 'content-type': 'application/json', ...headers },
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  });
}
