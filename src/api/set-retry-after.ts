import type { Response } from 'express';
import type { AppError } from '../shared/errors.js';

/** Tells when a repeat makes sense, where the failure knows. */
export function setRetryAfter(response: Response, { retryAfterS }: Pick<AppError, 'retryAfterS'>): void {
  if (retryAfterS !== undefined) {
    response.set('Retry-After', String(retryAfterS));
  }
}
