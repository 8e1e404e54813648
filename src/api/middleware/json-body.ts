import express, { type RequestHandler } from 'express';
import { limits } from '../../../config/limits.js';
import { HttpRequestError } from '../http-status.js';
import { say } from '../../shared/say.js';
import { bodyWithin } from './body-within.js';

/** Bodies are JSON objects of at most 100 kB. Another type is refused before it is read. */
export const jsonBody = jsonBodyUpTo();

/** The same, for one that may be larger. */
export function jsonBodyUpTo(bytesMax: number = limits.bodyBytesMax): RequestHandler[] {
  return [
    bodyWithin(bytesMax),
    (request, _response, next) => {
      const hasBody =
        request.get('transfer-encoding') !== undefined || Number(request.get('content-length')) > 0;
      if (hasBody && request.is('application/json') === false) {
        throw new HttpRequestError(say('onlyJson'), 415);
      }
      next();
    },
    express.json({ limit: bytesMax, strict: true, verify: onlyUtf8 }),
    (request, _response, next) => {
      if (Array.isArray(request.body)) {
        throw new HttpRequestError(say('bodyNoObject'));
      }
      next();
    },
  ];
}

/** The parser takes UTF-7, 16 and 32 as well, which filters in front of us would read as something else. */
function onlyUtf8(_request: unknown, _response: unknown, _raw: Buffer, encoding: string): void {
  if (encoding !== 'utf-8') {
    throw Object.assign(new Error(`The body is in ${encoding}`), { type: 'charset.unsupported' });
  }
}
