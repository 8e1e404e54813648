import { Binary, Double } from 'bson';
import { MongoError } from '../errors.js';
import { binaryBytes } from '../values/compare.js';
import { toBigInt, toDouble } from '../values/numbers.js';
import { isNumeric } from '../values/types.js';
import type { Numeric } from '../values/types.js';
import { valuePredicate } from './predicate.js';
import type { Predicate } from './predicate.js';

/** `$mod: [divisor, remainder]`: both and the value are cut to int64. */
export function hasRemainder(operand: unknown): Predicate {
  if (!Array.isArray(operand)) {
    throw new MongoError(2, 'malformed mod, needs to be an array');
  }
  if (operand.length !== 2) {
    throw new MongoError(2, `malformed mod, ${operand.length < 2 ? 'not enough' : 'too many'} elements`);
  }
  const divisor = modOperand(operand[0], 'divisor');
  const remainder = modOperand(operand[1], 'remainder');
  if (divisor === 0n) {
    throw new MongoError(2, 'divisor cannot be 0');
  }
  return valuePredicate((value) => {
    const integer = isNumeric(value) ? int64Of(value) : undefined;
    return integer !== undefined && integer % divisor === remainder;
  });
}

function modOperand(value: unknown, name: string): bigint {
  const integer = isNumeric(value) ? int64Of(value) : undefined;
  if (integer === undefined) {
    throw new MongoError(2, `malformed mod, ${name} is not a number that fits 64 bits`);
  }
  return integer;
}

/** Truncated to int64; undefined for NaN, infinities and what does not fit. */
function int64Of(value: Numeric): bigint | undefined {
  const integer = toBigInt(value);
  return integer !== undefined && BigInt.asIntN(64, integer) === integer ? integer : undefined;
}

export type BitsOperator = '$bitsAllSet' | '$bitsAllClear' | '$bitsAnySet' | '$bitsAnyClear';

/** `$bitsAllSet`, ...: the bits of integral numbers and of binary data; nothing else matches, not even AllClear. */
export function hasBits(operator: BitsOperator, operand: unknown): Predicate {
  const positions = bitPositions(operator, operand);
  const wanted = operator === '$bitsAllSet' || operator === '$bitsAnySet';
  const all = operator === '$bitsAllSet' || operator === '$bitsAllClear';
  return valuePredicate((value) => {
    const bitAt = bitReader(value);
    if (bitAt === undefined) {
      return false;
    }
    return all
      ? positions.every((position) => bitAt(position) === wanted)
      : positions.some((position) => bitAt(position) === wanted);
  });
}

function bitPositions(operator: string, operand: unknown): readonly number[] {
  if (Array.isArray(operand)) {
    return operand.map((position: unknown) => {
      const integer = isNumeric(position) ? toDouble(position) : Number.NaN;
      if (!Number.isInteger(integer) || integer < 0 || integer > 0x7fffffff) {
        throw new MongoError(
          isNumeric(position) ? 9 : 2,
          `bit positions of ${operator} must be non-negative 32-bit integers`,
        );
      }
      return integer;
    });
  }
  if (isNumeric(operand)) {
    const mask = int64Of(operand);
    if (mask === undefined || mask < 0n || !Number.isInteger(toDouble(operand))) {
      throw new MongoError(9, `${operator} takes a non-negative integer that fits 64 bits`);
    }
    return positionsOf((position) => (mask >> BigInt(position)) % 2n === 1n, 64);
  }
  if (operand instanceof Binary) {
    const bytes = binaryBytes(operand);
    return positionsOf((position) => byteBit(bytes, position), bytes.length * 8);
  }
  throw new MongoError(2, `${operator} takes an Array, a number, or a BinData`);
}

function positionsOf(isSet: (position: number) => boolean, length: number): readonly number[] {
  return Array.from({ length }, (_, position) => position).filter(isSet);
}

function byteBit(bytes: Uint8Array, position: number): boolean {
  return (((bytes[position >>> 3] ?? 0) >>> (position & 7)) & 1) === 1;
}

function bitReader(value: unknown): ((position: number) => boolean) | undefined {
  if (value instanceof Binary) {
    const bytes = binaryBytes(value);
    return (position) => byteBit(bytes, position);
  }
  if (!isNumeric(value)) {
    return undefined;
  }
  const isFraction =
    (typeof value === 'number' || value instanceof Double) && !Number.isInteger(toDouble(value));
  const integer = isFraction ? undefined : int64Of(value);
  if (integer === undefined) {
    return undefined;
  }
  // Positions from 64 on repeat the sign.
  return (position) => ((integer >> BigInt(Math.min(position, 63))) & 1n) === 1n;
}
