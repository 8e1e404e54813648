import type { ErrorRequestHandler, RequestHandler } from 'express';
import { setRetryAfter } from '../set-retry-after.js';
import {
  AppError,
  DependencyError,
  InsufficientBalanceError,
  NotFoundError,
  UnexpectedError,
} from '../../shared/errors.js';
import { say, type Message } from '../../shared/say.js';
import { isMongoUnavailable } from '../../database/mongo.js';
import { HttpRequestError, getHttpStatus } from '../http-status.js';
import { getRequestContext } from './request-context.js';
import { getMessageText } from '../words-in.js';

export const notFound: RequestHandler = (request) => {
  throw new NotFoundError(say('noSuchPath', { method: request.method, path: request.path }));
};

/** The failure envelope (docs/reference/api/conventions.md#envelope). What nobody expected is logged, and shown without its insides. */
export const errorEnvelope: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (response.headersSent) {
    next(error);
    return;
  }
  const known = toAppError(error);
  const context = getRequestContext(response);
  context.error = error;
  context.code = known.code;
  setRetryAfter(response, known);
  // A refusal is of the moment, and may say something about the account.
  response.set('Cache-Control', 'no-store');
  context.answer = buildFailureBody(known, context.requestId, (said) => getMessageText(response, said));
  response.status(getHttpStatus(known)).json(context.answer);
};

/** What the client reads of it. */
export function buildFailureBody(
  error: AppError,
  requestId: string,
  wordsOf: (said: Message) => string,
): object {
  return {
    status: 'error',
    code: error.code,
    reason: error.reason,
    message: wordsOf(error.said),
    data: null,
    ...(error instanceof InsufficientBalanceError && { data_hint: error.hint }),
    ...(error.errors && {
      errors: error.errors.map(({ field, reason = 'not_accepted', message }) => ({
        field,
        reason,
        message: wordsOf(message),
      })),
    }),
    request_id: requestId,
  };
}

/** Every error as one that a client may see. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) {
    return error;
  }
  // First: a client that hangs up while it sends has the code of a lost connection, and it is not MongoDB's.
  const ofClient = convertBodyParserError(error);
  if (ofClient) {
    return ofClient;
  }
  return isMongoUnavailable(error) ? new DependencyError(error) : new UnexpectedError(error);
}

function convertBodyParserError(error: unknown): AppError | null {
  const type = error instanceof Error && 'type' in error ? error.type : null;
  switch (type) {
    case 'entity.parse.failed':
      return new HttpRequestError(say('bodyNoJson'), 400, { cause: error });
    case 'entity.too.large':
      return new HttpRequestError(getTooLargeMessage(error), 413, { cause: error });
    case 'parameters.too.many':
      return new HttpRequestError(say('tooManyFormFields'), 413, { cause: error });
    case 'encoding.unsupported':
    case 'charset.unsupported':
      return new HttpRequestError(say('onlyJsonInUtf8'), 415, { cause: error });
    case 'request.size.invalid':
    case 'request.aborted':
    case 'entity.verify.failed':
      return new HttpRequestError(say('bodyIncomplete'), 400, { cause: error });
    default:
      if (isUnpackingError(error)) {
        return new HttpRequestError(say('bodyWrongEncoding'), 400, {
          cause: error,
        });
      }
      return error instanceof URIError ? new HttpRequestError(say('pathInvalid'), 400) : null;
  }
}

/** Of the parser that refused it: bodies of JSON have another limit than forms. */
function getTooLargeMessage(error: unknown): Message {
  const { limit } = error as { limit?: number };
  return limit === undefined
    ? say('bodyAboveAllowed')
    : say('bodyTooLarge', { limit: `${limit / (limit % 1_024 === 0 ? 1_024 : 1_000)} kB` });
}

/** Of zlib: what was sent can't be unpacked. */
function isUnpackingError(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' && /^(Z_|ERR_BROTLI|ERR__ERROR_FORMAT|ERR_.*BROTLI)/.test(code);
}
