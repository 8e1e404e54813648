/** AES-256-GCM for secrets that we must read again, such as API keys and webhook secrets. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { env } from '../../config/env.js';
import { firstKeyId, readKeyring, type SealingKey } from '../../config/keyring.js';

let ring: SealingKey[] | null = null;

/**
 * Returns the keys of this process, with the key for encryption first. The keys are read on demand,
 * because not every process may read them.
 */
export function getKeyring(): SealingKey[] {
  ring ??= readKeyring(env);
  return ring;
}

/** Returns the key that encrypts new values. */
export function getSealingKey(): SealingKey {
  const [first] = getKeyring();
  if (!first) {
    throw new Error('ENCRYPTION_KEY is not set');
  }
  return first;
}

/** Returns the id of the key with which a value was encrypted. */
export function getKeyId(sealed: string): string {
  const colon = sealed.indexOf(':');
  return colon < 0 ? firstKeyId : sealed.slice(0, colon);
}

/**
 * Encrypts a text.
 * @param context Binds the value to its owner.
 * @returns `<key id>:` and then nonce (12 bytes), tag (16 bytes) and ciphertext in base64. For the
 * key `0` the prefix is omitted.
 */
export function encrypt(plain: string, context: string): string {
  const { id, key } = getSealingKey();
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
  const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  const bytes = Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
  return id === firstKeyId ? bytes : `${id}:${bytes}`;
}

/**
 * Decrypts a value that `encrypt` returned.
 * @throws Error if the value was changed, was encrypted for another context, or if this process
 * lacks the key.
 */
export function decrypt(sealed: string, context: string): string {
  const id = getKeyId(sealed);
  const key = getKeyring().find((each) => each.id === id)?.key;
  if (!key) {
    throw new Error(`This process has no key with the id ${id}: see ENCRYPTION_KEYS in .env.example`);
  }
  const bytes = Buffer.from(sealed.slice(sealed.indexOf(':') + 1), 'base64');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAAD(Buffer.from(context));
  decipher.setAuthTag(bytes.subarray(12, 28));
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
}
