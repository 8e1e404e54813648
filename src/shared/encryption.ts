/** AES-256-GCM for what we must be able to read again: API keys and webhook secrets. */
import { createCipheriv, createDecipheriv, randomBytes, timingSafeEqual } from 'node:crypto';
import { env } from '../../config/env.js';
import { firstKeyId, readKeyring, type SealingKey } from '../../config/keyring.js';

let ring: SealingKey[] | null = null;

/** The keys that this process has, the one that seals first. Read when needed: not every process may. */
export function keyring(): SealingKey[] {
  ring ??= readKeyring(env);
  return ring;
}

/** The key that seals. */
export function sealingKey(): SealingKey {
  const [first] = keyring();
  if (!first) {
    throw new Error('There is no ENCRYPTION_KEY');
  }
  return first;
}

/** The id of the key that a value was sealed with. */
export function getKeyId(sealed: string): string {
  const colon = sealed.indexOf(':');
  return colon < 0 ? firstKeyId : sealed.slice(0, colon);
}

/**
 * @returns `<key id>:` and base64 of nonce (12 bytes), tag (16 bytes) and ciphertext; the id `0` is left out, as earlier
 *   releases did, which can then still read it. `context` binds the value to its owner.
 */
export function encrypt(plain: string, context: string): string {
  const { id, key } = sealingKey();
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
  const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  const bytes = Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
  return id === firstKeyId ? bytes : `${id}:${bytes}`;
}

/** @throws Error if the value was changed, belongs to another owner, or this process lacks the key it was made with. */
export function decrypt(sealed: string, context: string): string {
  const id = getKeyId(sealed);
  const key = keyring().find((each) => each.id === id)?.key;
  if (!key) {
    throw new Error(`This process has no key with the id ${id}: see ENCRYPTION_KEYS in .env.example`);
  }
  const bytes = Buffer.from(sealed.slice(sealed.indexOf(':') + 1), 'base64');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAAD(Buffer.from(context));
  decipher.setAuthTag(bytes.subarray(12, 28));
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
}

/** Compares what somebody has sent with what it must be, in a time that tells nothing but a wrong length. */
export function isSameSecret(given: string | Buffer, expected: string | Buffer): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
