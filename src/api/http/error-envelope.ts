import type { ErrorRequestHandler, RequestHandler } from 'express';
import { setRetryAfter, HttpRequestError, getHttpStatus } from './http-status.js';
import {
  AppError,
  DependencyError,
  InsufficientBalanceError,
  NotFoundError,
  UnexpectedError,
} from '../../shared/errors.js';
import { say, type Message } from '../../shared/say.js';
import { isMongoUnavailable } from '../../database/mongo.js';
import { getRequestContext } from './request-context.js';
import { getMessageText } from '../language/response-language.js';
import { STATUS_CODES } from 'node:http';
import { newId } from '../../shared/ids.js';
import { logger } from '../../shared/logger.js';

export const notFound: RequestHandler = (request) => {
  throw new NotFoundError(say('noSuchPath', { method: request.method, path: request.path }));
};

/**
 * Sends the failure envelope (docs/reference/api/conventions.md#envelope). Unexpected errors are
 * logged and shown without details.
 */
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
  // A failure is temporary, and may contain data of the account.
  response.set('Cache-Control', 'no-store');
  context.answer = buildFailureBody(known, context.requestId, (message) => getMessageText(response, message));
  response.status(getHttpStatus(known)).json(context.answer);
};

/** Returns the response body of a failure. */
export function buildFailureBody(
  error: AppError,
  requestId: string,
  wordsOf: (message: Message) => string,
): object {
  return {
    status: 'error',
    code: error.code,
    reason: error.reason,
    message: wordsOf(error.clientMessage),
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

/** Converts any error to one that a client may see. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) {
    return error;
  }
  // Checked first: if a client disconnects while sending, the error has the same code as a lost
  // connection to MongoDB.
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

/**
 * Uses the limit of the parser that refused the body. JSON bodies and forms have different limits.
 */
function getTooLargeMessage(error: unknown): Message {
  const { limit } = error as { limit?: number };
  return limit === undefined
    ? say('bodyAboveAllowed')
    : say('bodyTooLarge', { limit: `${limit / (limit % 1_024 === 0 ? 1_024 : 1_000)} kB` });
}

/** True for errors of zlib: the body cannot be decompressed. */
function isUnpackingError(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' && /^(Z_|ERR_BROTLI|ERR__ERROR_FORMAT|ERR_.*BROTLI)/.test(code);
}

/** The same statuses as in Node. All other codes become 400. */
const failuresByCode = new Map([
  ['HPE_HEADER_OVERFLOW', new HttpRequestError(say('headersTooLarge'), 431)],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', new HttpRequestError(say('bodyAboveAllowed'), 413)],
  ['ERR_HTTP_REQUEST_TIMEOUT', new HttpRequestError(say('requestTooSlow'), 408)],
]);
const unreadableRequestError = new HttpRequestError(say('requestUnreadable'), 400);

/**
 * Returns the raw response to a request that Node could not parse, or that timed out. The failure
 * envelope tells the client that nothing was executed. The message is in English, because the
 * headers of the request are unknown.
 */
export function buildUnreadableRequestResponse({ code = '' }: NodeJS.ErrnoException): string {
  const failure = failuresByCode.get(code) ?? unreadableRequestError;
  const { httpStatus } = failure;
  const requestId = newId();
  logger.info('a request could not be read', { requestId, status: httpStatus, code });
  const body = JSON.stringify(buildFailureBody(failure, requestId, (message) => message.en));
  return [
    `HTTP/1.1 ${httpStatus} ${STATUS_CODES[httpStatus] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    'Content-Language: en',
    'Cache-Control: no-store',
    `X-Request-Id: ${requestId}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
