import { createHash } from 'node:crypto';

/** The keys of what is stored encrypted: the first one seals, all of them open. */
export interface SealingKey {
  /** Stands in front of what was sealed with it; `0` is that of ENCRYPTION_KEY, and is left out there. */
  id: string;
  key: Buffer;
}

/** The id of ENCRYPTION_KEY, and of whatever was sealed before keys had ids. */
export const firstKeyId = '0';

/** @returns the mistake in a value of ENCRYPTION_KEYS, without quoting it, or null. */
export function findKeysMistake(value: string): string | null {
  const entries = value.split(',').map((entry) => /^([A-Za-z0-9_-]{1,16}):(.+)$/.exec(entry));
  if (entries.some((entry) => entry === null)) {
    return 'must be a list of id:key, separated by commas, the one that seals first; an id has 1 to 16 letters, digits, _ or -';
  }
  if (new Set(entries.map((entry) => entry?.[1])).size < entries.length) {
    return 'must not have one id twice';
  }
  if (new Set(entries.map((entry) => keyBytes(entry?.[2] ?? '').toString('hex'))).size < entries.length) {
    return 'must not have one key under two ids';
  }
  return entries.every((entry) => keyBytes(entry?.[2] ?? '').length === 32)
    ? null
    : 'must have keys of 32 random bytes in base64 (openssl rand -base64 32)';
}

/** ENCRYPTION_KEYS in its order, and then ENCRYPTION_KEY, unless the list has an id `0` of its own. */
export function readKeyring(settings: {
  ENCRYPTION_KEY: string | null;
  ENCRYPTION_KEYS: string | null;
}): SealingKey[] {
  const listed = (settings.ENCRYPTION_KEYS?.split(',') ?? []).map((entry) => {
    const colon = entry.indexOf(':');
    return { id: entry.slice(0, colon), key: keyBytes(entry.slice(colon + 1)) };
  });
  const single = settings.ENCRYPTION_KEY;
  return single === null || listed.some(({ id }) => id === firstKeyId)
    ? listed
    : [...listed, { id: firstKeyId, key: keyBytes(single) }];
}

export function keyBytes(base64: string): Buffer {
  return Buffer.from(base64, 'base64');
}

/** What a copy for trying out has where nothing is set: fixed, so that a restarted one can still read what it stored. */

export const developmentKey = createHash('sha256').update('topup development key').digest('base64');
export const developmentSecret = 'development-session-secret-not-for-production';
