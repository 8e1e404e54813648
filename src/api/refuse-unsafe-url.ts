import { ValidationError } from '../shared/errors.js';
import { urlGuard } from '../webhooks/url-guard.js';

/**
 * A URL that we shall call must not lead into a network of ours (docs/webhooks.md).
 * @throws ValidationError (400/01) naming the field.
 */
export async function refuseUnsafeUrl(field: string, url: string | null | undefined): Promise<void> {
  const problem = typeof url === 'string' ? await urlGuard.problemWhenSaved(url) : null;
  if (problem !== null) {
    throw new ValidationError([{ field, message: `${field} ${problem}` }]);
  }
}
