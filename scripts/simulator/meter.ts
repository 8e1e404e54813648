/** Prepaid meters: one for every number, always with the same owner, but for an ending in 1242. */
import { createHash } from 'node:crypto';

const names = ['BUDI SANTOSO', 'SITI AMINAH', 'AGUS WIJAYA', 'DEWI LESTARI', 'RINA S/D HARTONO'];

/** Whose meter it is, also as a token names it. */
export function ownerOf(meterNumber: string): string {
  const digest = createHash('sha256').update(meterNumber).digest();
  return names[digest.readUInt8(0) % names.length] ?? '';
}

export interface Meter {
  customer_number: string;
  customer_name: string;
  power: string;
}

/** Null: there is no such meter. */
export function meterOf(meterNumber: string): Meter | null {
  return meterNumber.endsWith('1242')
    ? null
    : { customer_number: meterNumber, customer_name: ownerOf(meterNumber), power: 'R1 / 900 VA' };
}
