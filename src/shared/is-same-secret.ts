import { timingSafeEqual } from 'node:crypto';

/**
 * Compares a received secret with the expected one in constant time. The time reveals only whether
 * the length is right.
 */
export function isSameSecret(received: string | Buffer, expected: string | Buffer): boolean {
  const [one, other] = [Buffer.from(received), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
