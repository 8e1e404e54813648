import { timingSafeEqual } from 'node:crypto';

/** Compares a received secret with the expected one in constant time. Only a wrong length shows. */
export function isSameSecret(received: string | Buffer, expected: string | Buffer): boolean {
  const [one, other] = [Buffer.from(received), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
