import { timingSafeEqual } from 'node:crypto';

/** Compares what somebody has sent with what it must be, in a time that tells nothing but a wrong length. */
export function isSameSecret(given: string | Buffer, expected: string | Buffer): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
