/** Maps failures to HTTP statuses. Only this file does so. */
import {
  AppError,
  ConflictError,
  DependencyError,
  ForbiddenError,
  InsufficientBalanceError,
  InvalidCustomerNumberError,
  MaintenanceError,
  NotFoundError,
  RateLimitError,
  UnauthorizedError,
  UnexpectedError,
  ValidationError,
  type AppErrorOptions,
} from '../../shared/errors.js';
import type { Message } from '../../shared/say.js';
import type { Response } from 'express';

const reasonsByStatus = {
  400: 'malformed_body',
  405: 'method_not_allowed',
  408: 'malformed_body',
  413: 'body_too_large',
  415: 'unsupported_media_type',
  431: 'malformed_body',
} as const;

/**
 * The request as a whole is invalid: malformed JSON, body too large, wrong content type, wrong
 * method, or sent too slowly.
 */
export class HttpRequestError extends AppError {
  constructor(
    message: Message,
    readonly httpStatus: keyof typeof reasonsByStatus = 400,
    options: AppErrorOptions = {},
  ) {
    super('01', message, { reason: reasonsByStatus[httpStatus], ...options });
  }
}

const statuses: [type: abstract new (...args: never[]) => AppError, httpStatus: number][] = [
  [ValidationError, 400],
  [UnauthorizedError, 401],
  [InsufficientBalanceError, 402],
  [ForbiddenError, 403],
  [NotFoundError, 404],
  [ConflictError, 409],
  [InvalidCustomerNumberError, 422],
  [RateLimitError, 429],
  [UnexpectedError, 500],
  [MaintenanceError, 503],
  [DependencyError, 503],
];

/**
 * Returns the HTTP status of an error.
 * @throws Error for a class that is not in the table, which is a bug.
 */
export function getHttpStatus(error: AppError): number {
  if (error instanceof HttpRequestError) {
    return error.httpStatus;
  }
  const found = statuses.find(([type]) => error instanceof type);
  if (!found) {
    throw new Error(`${error.name} has no HTTP status`);
  }
  return found[1];
}

/** Sets Retry-After if the error says when to retry. */
export function setRetryAfter(response: Response, { retryAfterS }: Pick<AppError, 'retryAfterS'>): void {
  if (retryAfterS !== undefined) {
    response.set('Retry-After', String(retryAfterS));
  }
}
