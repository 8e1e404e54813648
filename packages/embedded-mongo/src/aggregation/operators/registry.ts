import { listOperators } from '../accumulators/registry.js';
import type { OperatorCompiler } from '../operator.js';
import { refusedOperators, createRefusals } from '../unsupported.js';
import { arithmeticOperators } from './arithmetic.js';
import { arrayOperators } from './arrays.js';
import { comparisonOperators } from './comparison.js';
import { conversionOperators } from './conversion.js';
import { dateOperators } from './dates.js';
import { logicalOperators } from './logical.js';
import { objectOperators } from './objects.js';
import { stringOperators } from './strings.js';
import { variableOperators } from './variables.js';

/** All expression operators by name. */
export const expressionOperators: ReadonlyMap<string, OperatorCompiler> = new Map<string, OperatorCompiler>([
  ...createRefusals(refusedOperators),
  ...Object.entries({
    ...arithmeticOperators,
    ...arrayOperators,
    ...comparisonOperators,
    ...conversionOperators,
    ...dateOperators,
    ...listOperators,
    ...logicalOperators,
    ...objectOperators,
    ...stringOperators,
    ...variableOperators,
  }),
]);
