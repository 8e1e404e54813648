import type { IncomingMessage } from 'node:http';
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
    unlessBodiless(express.json({ limit: bytesMax, strict: true, verify: isWholeUtf8 })),
    (request, _response, next) => {
      if (Array.isArray(request.body)) {
        throw new HttpRequestError(say('bodyNoObject'));
      }
      next();
    },
  ];
}

/**
 * A GET or HEAD is answered by its address: nothing of it waits for a body that it announces, so that its connection always
 * ends with its answer (api/one-by-one.ts).
 */
function unlessBodiless(parse: RequestHandler): RequestHandler {
  return (request, response, next) =>
    request.method === 'GET' || request.method === 'HEAD' ? next() : parse(request, response, next);
}

/**
 * The parser takes UTF-7, 16 and 32 as well, which filters in front of us would read as something else; and what is packed so
 * that it ends before the request does, of which nothing may be done yet (api/one-by-one.ts).
 */
function isWholeUtf8(request: IncomingMessage, _response: unknown, _raw: Buffer, encoding: string): void {
  if (encoding !== 'utf-8') {
    throw Object.assign(new Error(`The body is in ${encoding}`), { type: 'charset.unsupported' });
  }
  if (!request.complete) {
    throw Object.assign(new Error('The request goes on behind its body'), { type: 'request.aborted' });
  }
}
