import type { Request } from 'express';
import { ValidationError } from '../../shared/errors.js';

/**
 * The query parameters as strings. One that is given twice is refused: two readers of such a request could each see
 * another value.
 */
export function queryOf(request: Request): Record<string, string> {
  const at = request.originalUrl.indexOf('?');
  const found: Record<string, string> = Object.create(null) as Record<string, string>;
  if (at < 0) {
    return found;
  }
  for (const [name, value] of new URLSearchParams(request.originalUrl.slice(at + 1))) {
    if (name in found) {
      throw new ValidationError([{ field: name, message: `${name} must be given once` }]);
    }
    found[name] = value;
  }
  return found;
}
