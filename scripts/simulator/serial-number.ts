/** Serial numbers in provider format, deterministic and unique per order. */
import { createHash } from 'node:crypto';
import { ownerOf } from './meter.js';
import type { Order } from './order-book.js';

/** Price in rupiah per kilowatt-hour for tariff R1 at 900 VA. */
const rupiahPerKwh = 1_352;

export function serialNumberOf({ kind, provider, ref_id: refId, code, customer }: Order): string {
  const digest = createHash('sha256').update(`${provider}\n${refId}`).digest();
  const digits = (digest.readBigUInt64BE(0) * 2n ** 64n + digest.readBigUInt64BE(8))
    .toString()
    .padStart(39, '0');
  if (kind === 'request' && /^pln/i.test(code)) {
    const token = digits.slice(-20).replace(/(\d{4})(?=\d)/g, '$1-');
    return `${token}/${ownerOf(customer)}/R1/900VA/${kilowattHours(code)}`;
  }
  return digits.slice(-18);
}

/**
 * Returns the kilowatt-hours for the amount in a product code, with a decimal comma: `PLN100` and
 * `PLN100000` give 74,0.
 */
function kilowattHours(code: string): string {
  const amount = Number(/\d+/.exec(code)?.[0] ?? 100);
  const rupiah = amount < 10_000 ? amount * 1_000 : amount;
  return (rupiah / rupiahPerKwh).toFixed(1).replace('.', ',');
}
