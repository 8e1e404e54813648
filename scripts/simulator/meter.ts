/** Prepaid meters. Each meter number has a fixed owner, except for the endings 1242 and 1246. */
import { createHash } from 'node:crypto';
import { findScenario } from '../../config/sandbox-scenarios.js';

const names = ['BUDI SANTOSO', 'SITI AMINAH', 'AGUS WIJAYA', 'DEWI LESTARI', 'RINA S/D HARTONO'];

/** Returns the name of a meter's owner, as printed with its tokens. */
export function ownerOf(meterNumber: string): string {
  const digest = createHash('sha256').update(meterNumber).digest();
  return names[digest.readUInt8(0) % names.length] ?? '';
}

export interface Meter {
  customer_number: string;
  customer_name: string;
  power: string;
}

/** Returns the meter. Returns 03 if it is temporarily unavailable, and 04 if it is unknown. */
export function meterOf(meterNumber: string): Meter | '03' | '04' {
  switch (findScenario(meterNumber)?.bill) {
    case 'away':
      return '03';
    case 'unknown':
      return '04';
    default:
      return { customer_number: meterNumber, customer_name: ownerOf(meterNumber), power: 'R1 / 900 VA' };
  }
}
