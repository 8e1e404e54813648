import type { Request } from 'express';
import { ValidationError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';

/**
 * The query parameters as strings. One that is given twice is refused: two readers of such a request could each see
 * another value.
 */
export function parseQuery(request: Request): Record<string, string> {
  const { first, objection } = readQuery(request);
  if (objection) {
    throw objection;
  }
  return first;
}

/** For who must look at a query that is going to be refused: the first value of each parameter, and why it is refused. */
export function readQuery(request: Request): {
  first: Record<string, string>;
  objection: ValidationError | null;
} {
  const at = request.originalUrl.indexOf('?');
  const first: Record<string, string> = Object.create(null) as Record<string, string>;
  const twice: string[] = [];
  for (const [name, value] of new URLSearchParams(at < 0 ? '' : request.originalUrl.slice(at + 1))) {
    if (name in first) {
      twice.push(name.slice(0, 100));
    } else {
      first[name] = value;
    }
  }
  const [field] = twice;
  const objection =
    field === undefined
      ? null
      : new ValidationError([{ field, reason: 'given_twice', message: say('givenTwice', { field }) }]);
  return { first, objection };
}
