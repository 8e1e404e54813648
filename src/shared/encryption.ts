/** AES-256-GCM for what we must be able to read again: API keys and webhook secrets. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { env } from '../../config/env.js';

const key = Buffer.from(env.ENCRYPTION_KEY, 'base64');

/** @returns base64 of nonce (12 bytes), tag (16 bytes) and ciphertext. `context` binds the value to its owner. */
export function encrypt(plain: string, context: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
  const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
}

/** @throws Error if the value was changed, belongs to another owner, or ENCRYPTION_KEY is not the one it was made with. */
export function decrypt(sealed: string, context: string): string {
  const bytes = Buffer.from(sealed, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAAD(Buffer.from(context));
  decipher.setAuthTag(bytes.subarray(12, 28));
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
}
