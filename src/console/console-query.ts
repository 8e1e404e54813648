import type { Request } from 'express';
import type Joi from 'joi';
import { getInputLimits } from '../api/bounds.js';
import { parseQuery } from '../api/middleware/query.js';
import { validate } from '../api/validate.js';
import { ValidationError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';

const namedMax = 20;
const nameLengthMax = 100;

/**
 * The query of a call of the console, checked. A field that it does not know is refused: a filter whose name is misspelt would show, and
 * export, everything. The public interface ignores such fields (docs/reference/api/conventions.md#input), because its clients may be of a later release.
 * @throws ValidationError (400/01)
 */
export function consoleQuery<T>(schema: Joi.ObjectSchema<T>, request: Request): T {
  const query = parseQuery(request);
  const bounds = getInputLimits(schema);
  const unknown = Object.keys(query).filter((name) => bounds.kind !== 'object' || !bounds.fields.has(name));
  if (unknown.length > 0) {
    throw new ValidationError(
      unknown.slice(0, namedMax).map((name) => {
        const field = name.slice(0, nameLengthMax);
        return { field, reason: 'not_accepted', message: asWritten(`${field} is not known here`) };
      }),
    );
  }
  return validate(schema, query);
}
