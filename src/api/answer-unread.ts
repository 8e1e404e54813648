import { STATUS_CODES } from 'node:http';
import { newId } from '../shared/ids.js';
import { logger } from '../shared/logger.js';
import { say } from '../shared/say.js';
import { HttpRequestError } from './http-status.js';
import { buildFailureBody } from './middleware/errors.js';

/** As Node would answer; for what it does not name 400. */
const failuresByCode = new Map([
  ['HPE_HEADER_OVERFLOW', new HttpRequestError(say('headersTooLarge'), 431)],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', new HttpRequestError(say('bodyAboveAllowed'), 413)],
  ['ERR_HTTP_REQUEST_TIMEOUT', new HttpRequestError(say('requestTooSlow'), 408)],
]);
const unreadableRequestError = new HttpRequestError(say('requestUnreadable'), 400);

/**
 * The answer to what Node could not read as a request, or not in time, byte for byte: the envelope of every other failure, so that
 * a client sees that nothing was done. In English, because no header of it is known.
 */
export function buildUnreadableRequestResponse({ code = '' }: NodeJS.ErrnoException): string {
  const failure = failuresByCode.get(code) ?? unreadableRequestError;
  const { httpStatus } = failure;
  const requestId = newId();
  logger.info('a request could not be read', { requestId, status: httpStatus, code });
  const body = JSON.stringify(buildFailureBody(failure, requestId, (said) => said.en));
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
