import type { FieldError } from '../shared/errors.js';
import { say } from '../shared/say.js';
import { urlGuard } from '../webhooks/url-guard.js';

/** What is wrong with URLs that are to be saved, by their fields; names are resolved. Null and left out are no URLs. */
export async function findUrlErrors(given: Record<string, string | null | undefined>): Promise<FieldError[]> {
  const found = await Promise.all(
    Object.entries(given).map(async ([field, value]) => {
      const problem = typeof value === 'string' ? await urlGuard.problemWhenSaved(value) : null;
      return problem === null ? [] : [{ field, message: say('urlField', { field, problem }) }];
    }),
  );
  return found.flat();
}
