import { MongoError } from '../../errors.js';
import { asDouble, toDouble } from '../../values/numbers.js';
import { isNumeric, typeNameOf } from '../../values/types.js';
import { isNullish } from '../coerce.js';
import { binary } from '../operator.js';
import type { OperatorCompiler } from '../operator.js';
import { noDecimal, ofNumber } from './numeric-functions.js';

/** Trigonometry on doubles; a Decimal128 is refused. */
export const trigonometricOperators: Readonly<Record<string, OperatorCompiler>> = {
  $sin: bounded(Math.sin, finiteOnly),
  $cos: bounded(Math.cos, finiteOnly),
  $tan: bounded(Math.tan, finiteOnly),
  $asin: bounded(Math.asin, (value) => value >= -1 && value <= 1),
  $acos: bounded(Math.acos, (value) => value >= -1 && value <= 1),
  $atan: bounded(Math.atan, anything),
  $atan2: binary(arcTangent2),
  $sinh: bounded(Math.sinh, anything),
  $cosh: bounded(Math.cosh, anything),
  $tanh: bounded(Math.tanh, anything),
  $asinh: bounded(Math.asinh, anything),
  $acosh: bounded(Math.acosh, (value) => value >= 1),
  $atanh: bounded(Math.atanh, (value) => value >= -1 && value <= 1),
  $degreesToRadians: bounded((value) => value * (Math.PI / 180), anything),
  $radiansToDegrees: bounded((value) => value * (180 / Math.PI), anything),
};

function anything(): boolean {
  return true;
}

function finiteOnly(value: number): boolean {
  return Number.isFinite(value);
}

function bounded(apply: (value: number) => number, allowed: (value: number) => boolean): OperatorCompiler {
  return ofNumber((value, name) => {
    const double = noDecimal(value, name);
    if (!Number.isNaN(double) && !allowed(double)) {
      throw new MongoError(50989, `cannot apply ${name} to ${double}, value is out of range`);
    }
    return asDouble(apply(double));
  });
}

function arcTangent2(y: unknown, x: unknown): unknown {
  if (isNullish(y) || isNullish(x)) {
    return null;
  }
  if (!isNumeric(y)) {
    throw new MongoError(51044, `$atan2 only supports numeric types, not ${typeNameOf(y)}`);
  }
  if (!isNumeric(x)) {
    throw new MongoError(51045, `$atan2 only supports numeric types, not ${typeNameOf(x)}`);
  }
  noDecimal(y, '$atan2');
  noDecimal(x, '$atan2');
  return asDouble(Math.atan2(toDouble(y), toDouble(x)));
}
