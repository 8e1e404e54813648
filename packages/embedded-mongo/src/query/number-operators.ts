import { MongoError } from '../errors.js';
import { toBigInt } from '../values/numbers.js';
import { isNumeric, type Numeric } from '../values/types.js';
import { valuePredicate, type Predicate } from './predicate.js';

/**
 * Compiles `$mod: [divisor, remainder]`. The divisor, the remainder and the value are truncated to
 * int64.
 */
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

/**
 * Truncates a number to int64. Undefined for NaN, infinities and numbers outside the int64 range.
 */
function int64Of(value: Numeric): bigint | undefined {
  const integer = toBigInt(value);
  return integer !== undefined && BigInt.asIntN(64, integer) === integer ? integer : undefined;
}
