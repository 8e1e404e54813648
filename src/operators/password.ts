import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { ValidationError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';

/** argon2id with 19 MiB and two passes, as OWASP has recommended since 2024. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
export const passwordLengthMin = 12;
/** Longer passwords would only cost time to hash. */
export const passwordLengthMax = 200;

/**
 * Hashes a new password.
 * @throws ValidationError for a password that is too short or too long.
 */
export async function hashNewPassword(password: string): Promise<string> {
  if (password.length < passwordLengthMin || password.length > passwordLengthMax) {
    const message = `a password has ${passwordLengthMin} to ${passwordLengthMax} characters`;
    throw new ValidationError([{ field: 'password', message: asWritten(message) }]);
  }
  return hash(password, parameters);
}

/**
 * True for the right password. Without a hash (unknown username) it takes the same time and returns
 * false, so that timing does not reveal usernames.
 */
export async function isCorrectPassword(passwordHash: string | null, password: string): Promise<boolean> {
  if (passwordHash === null) {
    await hash(password, parameters);
    return false;
  }
  return verify(passwordHash, password);
}

/** Generates a password of 24 characters with 144 random bits. */
export function generatePassword(): string {
  return randomBytes(18).toString('base64url');
}
