import { createHash, randomBytes } from 'node:crypto';
import type { Role } from './account.model.js';
import { ApiKeyModel } from './api-key.model.js';
import { getApiKeyContext } from './secret-contexts.js';
import { decrypt } from '../shared/encryption.js';
import { NotFoundError } from '../shared/errors.js';
import { say } from '../shared/say.js';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const keyPattern = /^([bs]k_(?:live|test)_)([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;

/**
 * Generates an API key: `bk_live_` (buyer) or `sk_live_` (seller), `_test_` in the sandbox, then 32
 * random bytes in base62 and a checksum. The checksum detects a mistyped key without a query.
 */
export function generateApiKey(role: Role, mode: 'live' | 'test'): string {
  const prefix = `${role === 'buyer' ? 'bk' : 'sk'}_${mode}_`;
  const random = toBase62(randomBytes(32), 43);
  return prefix + random + computeChecksum(prefix + random);
}

/** True if the text has the form and the checksum of an API key. */
export function isWellFormedApiKey(key: string): boolean {
  const match = keyPattern.exec(key);
  return match !== null && computeChecksum(`${match[1] ?? ''}${match[2] ?? ''}`) === match[3];
}

/** Returns the SHA-256 of a key in lower-case hex. Keys are looked up by this hash. */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

function computeChecksum(text: string): string {
  return toBase62(createHash('sha256').update(text).digest().subarray(0, 4), 6);
}

function toBase62(bytes: Uint8Array, length: number): string {
  let value = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  for (let i = 0; i < length; i++) {
    text = base62.charAt(Number(value % 62n)) + text;
    value /= 62n;
  }
  return text;
}

/** Finds the id of an account's current key. Null if there is none. */
export async function findCurrentKeyId(accountId: string): Promise<string | null> {
  const key = await ApiKeyModel.findOne({ accountId, validUntil: null }, { _id: 1 }).lean();
  return key?._id ?? null;
}

/**
 * Returns one API key of an account in clear text.
 * @param keyId Id of the key. Null selects the current key.
 * @throws NotFoundError if the account has no such key.
 */
export async function getDecryptedApiKey(accountId: string, keyId: string | null): Promise<string> {
  const which = keyId === null ? { validUntil: null } : { _id: keyId };
  const key = await ApiKeyModel.findOne({ accountId, ...which }).lean();
  if (!key) {
    throw new NotFoundError(say('noApiKey'));
  }
  return decrypt(key.sealed, getApiKeyContext(accountId));
}
