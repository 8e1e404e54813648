import { dayCloses, type DayClose, type Signature } from './day-close.model.js';
import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { env } from '../../../config/env.js';

/** A closed day, which has a root. */
export type ClosedDay = DayClose & {
  state: 'closed';
  content: NonNullable<DayClose['content']>;
  root: string;
};

/** Returns the last closed day as a majority holds it, or null if no day is closed yet. */
export async function findLastClosedDay(): Promise<ClosedDay | null> {
  const [newest, before] = (await dayCloses
    .find({}, { readConcern: 'majority' })
    .sort({ _id: -1 })
    .limit(2)
    .toArray()) as ClosedDay[];
  // The newest day may still be building.
  return (newest?.state === 'closed' ? newest : before) ?? null;
}

/**
 * Signs a root with Ed25519. Only the process that closes days has LEDGER_CLOSE_KEY. So an attacker
 * with write access to the database alone cannot produce a root that `topup ledger verify --key`
 * accepts.
 *
 * @returns Null if no key is configured.
 * @throws Error if the setting holds no Ed25519 key. The message names the setting, never its
 *   value.
 */
export function signRoot(day: string, root: string): Signature | null {
  const key = readPrivateKey();
  return (
    key && {
      publicKey: createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64'),
      value: sign(null, buildSignedText(day, root), key).toString('base64'),
    }
  );
}

export function isSignatureValid(day: string, root: string, signature: Signature): boolean {
  try {
    const key = createPublicKey({
      key: Buffer.from(signature.publicKey, 'base64'),
      type: 'spki',
      format: 'der',
    });
    return verify(null, buildSignedText(day, root), key, Buffer.from(signature.value, 'base64'));
  } catch {
    // A malformed key counts as an invalid signature.
    return false;
  }
}

function buildSignedText(day: string, root: string): Buffer {
  return Buffer.from(`topup ledger close ${day} ${root}`);
}

function readPrivateKey(): KeyObject | null {
  const keyOrPath = env.LEDGER_CLOSE_KEY;
  if (keyOrPath === null) {
    return null;
  }
  try {
    // Many configuration systems allow only one line, so a PEM may arrive without line breaks.
    const pem = keyOrPath.includes('-----BEGIN')
      ? keyOrPath.replaceAll('\\n', '\n')
      : readFileSync(keyOrPath, 'utf8');
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'ed25519') {
      return key;
    }
  } catch {
    // Drop the cause, because it may contain a path or a part of the key.
  }
  throw new Error('LEDGER_CLOSE_KEY is neither an Ed25519 private key in PEM nor the path of one');
}
