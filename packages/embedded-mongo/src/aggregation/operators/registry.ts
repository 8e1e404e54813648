import type { OperatorCompiler } from '../operator.js';
import { accumulatorOperators } from './accumulators.js';
import { arithmeticOperators } from './arithmetic.js';
import { arrayOperators } from './arrays.js';
import { comparisonOperators } from './comparison.js';
import { conversionOperators } from './conversion.js';
import { dateArithmeticOperators } from './date-arithmetic.js';
import { dateConversionOperators } from './date-conversion.js';
import { datePartOperators } from './date-parts.js';
import { logicalOperators } from './logical.js';
import { numericFunctions } from './numeric-functions.js';
import { objectOperators } from './objects.js';
import { regexOperators } from './regex.js';
import { setOperators } from './sets.js';
import { stringOperators } from './strings.js';
import { trigonometricOperators } from './trigonometry.js';
import { unsupportedOperators } from './unsupported.js';
import { variableOperators } from './variables.js';

/** All expression operators by name. */
export const expressionOperators: ReadonlyMap<string, OperatorCompiler> = new Map(
  [
    accumulatorOperators,
    arithmeticOperators,
    arrayOperators,
    comparisonOperators,
    conversionOperators,
    dateArithmeticOperators,
    dateConversionOperators,
    datePartOperators,
    logicalOperators,
    numericFunctions,
    objectOperators,
    regexOperators,
    setOperators,
    stringOperators,
    trigonometricOperators,
    unsupportedOperators,
    variableOperators,
  ].flatMap((family) => Object.entries(family)),
);
