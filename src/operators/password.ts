import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { ValidationError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';

/** argon2id as OWASP recommends for 2024 and later: 19 MiB, two passes. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
export const passwordLengthMin = 12;
/** More would only cost time to hash. */
export const passwordLengthMax = 200;

/** @throws ValidationError for a password that is too short or too long. */
export async function hashNewPassword(password: string): Promise<string> {
  if (password.length < passwordLengthMin || password.length > passwordLengthMax) {
    const message = `a password has ${passwordLengthMin} to ${passwordLengthMax} characters`;
    throw new ValidationError([{ field: 'password', message: asWritten(message) }]);
  }
  return hash(password, parameters);
}

/**
 * True for the right password. With no hash (nobody of that name) it takes as long and says false, so that
 * the time does not tell which usernames exist.
 */
export async function isRightPassword(passwordHash: string | null, password: string): Promise<boolean> {
  if (passwordHash === null) {
    await hash(password, parameters);
    return false;
  }
  return verify(passwordHash, password);
}

/** 24 characters that are easy to copy: 144 random bits. */
export function generatePassword(): string {
  return randomBytes(18).toString('base64url');
}
