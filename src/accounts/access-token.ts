/**
 * Access tokens from POST /v1/auth/login (docs/reference/api/authentication.md) contain the id of
 * the API key and an expiry, and are signed with a MAC. They need no store. Each use looks up the
 * key, so a token becomes invalid with its key.
 */
import { createHash, createHmac } from 'node:crypto';
import { isSameSecret } from '../shared/is-same-secret.js';
import { env } from '../../config/env.js';
import { nowMs } from '../shared/clock.js';

const prefix = 'at_';
const idBytes = 16;
const payloadBytes = idBytes + 6;
let macKey: Buffer | null = null;

/** Computed on first use, because only web processes have the secret. */
function getTokenKey(): Buffer {
  macKey ??= createHash('sha256').update(`access token:${env.SESSION_SECRET}`).digest();
  return macKey;
}

export interface AccessTokenPayload {
  keyId: string;
  validUntil: Date;
}

export function sealAccessToken({ keyId, validUntil }: AccessTokenPayload): string {
  const payload = Buffer.alloc(payloadBytes);
  payload.write(keyId, 'hex');
  payload.writeUIntBE(validUntil.getTime(), idBytes, payloadBytes - idBytes);
  return prefix + Buffer.concat([payload, computeMac(payload)]).toString('base64url');
}

export function looksLikeAccessToken(credential: string): boolean {
  return credential.startsWith(prefix);
}

/**
 * Opens an access token.
 * @returns Null if the MAC is invalid or the token has expired.
 */
export function openAccessToken(token: string): AccessTokenPayload | null {
  const bytes = Buffer.from(token.slice(prefix.length), 'base64url');
  const payload = bytes.subarray(0, payloadBytes);
  const mac = bytes.subarray(payloadBytes);
  if (!isSameSecret(mac, computeMac(payload))) {
    return null;
  }
  const validUntil = new Date(payload.readUIntBE(idBytes, payloadBytes - idBytes));
  return validUntil.getTime() > nowMs() ? { keyId: payload.toString('hex', 0, idBytes), validUntil } : null;
}

function computeMac(payload: Buffer): Buffer {
  return createHmac('sha256', getTokenKey()).update(payload).digest();
}
