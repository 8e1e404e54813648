import { MongoError } from '../../errors.js';
import type { OperatorCompiler } from '../operator.js';

const names = ['$accumulator', '$function', '$meta', '$sigmoid', '$toHashedIndexKey', '$toUUID'];

/** Operators of MongoDB that are refused here, by name, rather than called unknown. Error 238. */
export const unsupportedOperators: Readonly<Record<string, OperatorCompiler>> = Object.fromEntries(
  names.map((name) => [
    name,
    (): never => {
      throw new MongoError(238, `${name} is not supported by embedded-mongo`);
    },
  ]),
);
