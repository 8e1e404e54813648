import type { RequestHandler } from 'express';
import { limits } from '../../../config/limits.js';
import { HttpRequestError } from '../http-status.js';
import { say } from '../../shared/say.js';
import { limitBodySize } from './body-within.js';
import { parseJson } from './parse-body.js';

/** Bodies are JSON objects of at most 100 kB. Another type is refused before it is read. */
export const jsonBody = createJsonBodyParsers();

/** The same, for one that may be larger. */
export function createJsonBodyParsers(bytesMax: number = limits.bodyBytesMax): RequestHandler[] {
  return [
    limitBodySize(bytesMax),
    (request, _response, next) => {
      const hasBody =
        request.get('transfer-encoding') !== undefined || Number(request.get('content-length')) > 0;
      if (hasBody && request.is('application/json') === false) {
        throw new HttpRequestError(say('onlyJson'), 415);
      }
      next();
    },
    parseJson({ limit: bytesMax }),
    (request, _response, next) => {
      if (Array.isArray(request.body)) {
        throw new HttpRequestError(say('bodyNoObject'));
      }
      next();
    },
  ];
}
