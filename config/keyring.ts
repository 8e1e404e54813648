import { createHash } from 'node:crypto';

/** A key for stored secrets. The first key of the keyring encrypts; every key decrypts. */
export interface SealingKey {
  /**
   * Prefix of values that were encrypted with this key. The key with the id `0`, which is
   * ENCRYPTION_KEY, adds no prefix.
   */
  id: string;
  key: Buffer;
}

/** Id of ENCRYPTION_KEY. Encrypted values without a prefix belong to this key. */
export const firstKeyId = '0';

/**
 * Returns the mistake in a value of ENCRYPTION_KEYS without quoting the value. Null if there is
 * none.
 */
export function findKeysMistake(value: string): string | null {
  const entries = value.split(',').map((entry) => /^([A-Za-z0-9_-]{1,16}):(.+)$/.exec(entry));
  if (entries.some((entry) => entry === null)) {
    return 'must be a comma-separated list of id:key, the encrypting key first; an id has 1 to 16 letters, digits, _ or -';
  }
  if (new Set(entries.map((entry) => entry?.[1])).size < entries.length) {
    return 'must not repeat an id';
  }
  if (new Set(entries.map((entry) => decodeKey(entry?.[2] ?? '').toString('hex'))).size < entries.length) {
    return 'must not have the same key under two ids';
  }
  return entries.every((entry) => decodeKey(entry?.[2] ?? '').length === 32)
    ? null
    : 'must have keys of 32 random bytes in base64 (openssl rand -base64 32)';
}

/**
 * Returns the keys of ENCRYPTION_KEYS in order. ENCRYPTION_KEY follows, unless the list has a key
 * with the id `0`.
 */
export function readKeyring(settings: {
  ENCRYPTION_KEY: string | null;
  ENCRYPTION_KEYS: string | null;
}): SealingKey[] {
  const listed = (settings.ENCRYPTION_KEYS?.split(',') ?? []).map((entry) => {
    const colon = entry.indexOf(':');
    return { id: entry.slice(0, colon), key: decodeKey(entry.slice(colon + 1)) };
  });
  const single = settings.ENCRYPTION_KEY;
  return single === null || listed.some(({ id }) => id === firstKeyId)
    ? listed
    : [...listed, { id: firstKeyId, key: decodeKey(single) }];
}

export function decodeKey(base64: string): Buffer {
  return Buffer.from(base64, 'base64');
}

/**
 * Default for development. It is fixed, so that a restarted process can decrypt its stored data.
 */
export const developmentKey = createHash('sha256').update('topup development key').digest('base64');
export const developmentSecret = 'development-session-secret-not-for-production';
