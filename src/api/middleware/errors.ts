import type { ErrorRequestHandler, RequestHandler } from 'express';
import { AppError, DependencyError, NotFoundError, UnexpectedError } from '../../shared/errors.js';
import { isAway } from '../../database/mongo.js';
import { HttpRequestError, httpStatusOf } from '../http-status.js';
import { contextOf } from './request-context.js';

export const notFound: RequestHandler = (request) => {
  throw new NotFoundError(`There is no ${request.method} ${request.path}. See the documentation at /docs.`);
};

/** The failure envelope (docs/interface.md#envelope). What nobody expected is logged, and shown without its insides. */
export const errorEnvelope: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (response.headersSent) {
    next(error);
    return;
  }
  const known = toAppError(error);
  const context = contextOf(response);
  context.error = error;
  context.code = known.code;
  if (known.retryAfterS !== undefined) {
    response.set('Retry-After', String(known.retryAfterS));
  }
  response.status(httpStatusOf(known)).json({
    status: 'error',
    code: known.code,
    message: known.message,
    data: null,
    ...(known.errors && { errors: known.errors }),
    request_id: context.requestId,
  });
};

/** Every error as one that a client may see. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) {
    return error;
  }
  if (isAway(error)) {
    return new DependencyError(error);
  }
  return fromBodyParser(error) ?? new UnexpectedError(error);
}

function fromBodyParser(error: unknown): AppError | null {
  const type = error instanceof Error && 'type' in error ? error.type : null;
  switch (type) {
    case 'entity.parse.failed':
      return new HttpRequestError('The body is not valid JSON.', 400, { cause: error });
    case 'entity.too.large':
      return new HttpRequestError('The body is larger than 100 kB.', 413, { cause: error });
    case 'encoding.unsupported':
    case 'charset.unsupported':
      return new HttpRequestError('Send the body as JSON in UTF-8, not compressed.', 415, { cause: error });
    case 'request.size.invalid':
    case 'request.aborted':
    case 'entity.verify.failed':
      return new HttpRequestError('The body did not arrive whole.', 400, { cause: error });
    default:
      return error instanceof URIError ? new HttpRequestError('The path is not valid.', 400) : null;
  }
}
