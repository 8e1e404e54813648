import { BSONRegExp } from 'bson';
import { MongoError } from '../../errors.js';
import { compilePcre } from '../../query/pcre.js';
import { typeNameOf } from '../../values/types.js';
import type { Doc } from '../../values/types.js';
import { isNullish } from '../coerce.js';
import { combine, constant, constantValue, namedOperands } from '../operator.js';
import type { Expression, OperatorCall } from '../operator.js';

/** `$regexMatch`: `{input, regex, options}`. */
export function compileRegexMatch(argument: unknown, call: OperatorCall): Expression {
  const operands = namedOperands(argument, call, {
    keys: ['input', 'regex', 'options'],
    required: { input: 31022, regex: 31023 },
    notObject: 51103,
    unknownKey: 31024,
  });
  const { input = constant(null), regex = constant(null), options = constant(null) } = operands;
  const regexAt = regexOperand(regex, options, call.name);
  return combine(Object.values(operands), (root) => {
    const text = input.evaluate(root);
    const compiled = regexAt(root);
    if (!isNullish(text) && typeof text !== 'string') {
      throw new MongoError(51104, `${call.name} needs 'input' to be of type string`);
    }
    return !isNullish(text) && compiled?.test(text) === true;
  });
}

function regexOperand(regex: Expression, options: Expression, name: string): (root: Doc) => RegExp | null {
  if (regex.constant && options.constant) {
    const compiled = compileRegex(constantValue(regex), constantValue(options), name);
    return () => compiled;
  }
  return (root) => compileRegex(regex.evaluate(root), options.evaluate(root), name);
}

function compileRegex(regex: unknown, options: unknown, name: string): RegExp | null {
  if (!isNullish(options) && typeof options !== 'string') {
    throw new MongoError(51106, `${name} needs 'options' to be of type string`);
  }
  if (isNullish(regex)) {
    return null;
  }
  const [pattern, ownOptions] = regex instanceof BSONRegExp ? [regex.pattern, regex.options] : [regex, ''];
  if (typeof pattern !== 'string') {
    throw new MongoError(
      51105,
      `${name} needs 'regex' to be of type string or regex, found ${typeNameOf(regex)}`,
    );
  }
  if (ownOptions !== '' && !isNullish(options) && options !== '') {
    throw new MongoError(
      51107,
      `${name}: found regex option(s) specified in both 'regex' and 'option' fields`,
    );
  }
  if (pattern.includes('\0')) {
    throw new MongoError(51109, `${name}: regular expression cannot contain an embedded null byte`);
  }
  try {
    return compilePcre(pattern, options ?? ownOptions);
  } catch (error) {
    if (error instanceof MongoError && error.code === 51091) {
      throw new MongoError(51111, `Invalid Regex in ${name}: ${error.message}`);
    }
    throw error;
  }
}
