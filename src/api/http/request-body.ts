import express, { type RequestHandler } from 'express';
import type { IncomingMessage } from 'node:http';
import { limits } from '../../../config/limits.js';
import { HttpRequestError } from './http-status.js';
import { say } from '../../shared/say.js';

/** A body that is too large by no more than this is read to its end, so that its client can read the answer. */
const drainedBytesMax = 1_000_000;

/** Refuses a body at once that says it is far too large: the parsers would read all of it before they refuse it. */
export function limitBodySize(bytesMax: number): RequestHandler {
  return (request, response, next) => {
    if (Number(request.get('content-length')) > bytesMax + drainedBytesMax) {
      response.set('Connection', 'close');
      // As the parsers of Express say it.
      throw Object.assign(new Error('The body is too large'), { type: 'entity.too.large', limit: bytesMax });
    }
    next();
  };
}

/**
 * The parsers of bodies, and the only place that has them (eslint.config.js): nothing is done of a body that ends before its
 * request does, as a packed one can. Such a request still counts as one of which nothing is done (src/api/http/connection-queue.ts).
 */

interface Bounds {
  /** Bytes, also of what it is when it is unpacked. */
  limit: number;
}

/** JSON in UTF-8. */
export function parseJson(bounds: Bounds): RequestHandler {
  return rejectBrokenBodies(express.json({ ...bounds, verify: requireWholeUtf8Body }));
}

/** The bytes as they are signed, of whatever type. */
export function parseBytes(bounds: Bounds): RequestHandler {
  return rejectBrokenBodies(express.raw({ ...bounds, type: () => true, verify: requireWholeBody }));
}

/** What a form of a page sends. */
export function parseForm(bounds: Bounds & { parameterLimit: number }): RequestHandler {
  return rejectBrokenBodies(express.urlencoded({ ...bounds, extended: false, verify: requireWholeBody }));
}

/**
 * From Node 22.15 on, the parsers unpack zstd too. The contract has gzip, deflate and br, whatever Node runs the service.
 *
 * The parsers take a request for one without a body whose connection broke before they look at it, as one that waited
 * for a login.
 */
function rejectBrokenBodies(parse: RequestHandler): RequestHandler {
  return (request, response, next) => {
    if (request.headers['content-encoding']?.toLowerCase() === 'zstd') {
      next(Object.assign(new Error('The body is packed by zstd'), { type: 'encoding.unsupported' }));
      return;
    }
    void parse(request, response, (error?: unknown) => {
      next(
        error === undefined && request.destroyed && !request.complete
          ? createAbortedError('breaks off')
          : error,
      );
    });
  };
}

function requireWholeBody(request: IncomingMessage): void {
  if (!request.complete) {
    throw createAbortedError('goes on behind its body');
  }
}

/** As the parsers say it. */
function createAbortedError(how: string): Error {
  return Object.assign(new Error(`The request ${how}`), { type: 'request.aborted' });
}

/** The parser takes UTF-7, 16 and 32 as well, which filters in front of us would read as something else. */
function requireWholeUtf8Body(
  request: IncomingMessage,
  _response: unknown,
  _raw: Buffer,
  encoding: string,
): void {
  if (encoding !== 'utf-8') {
    throw Object.assign(new Error(`The body is in ${encoding}`), { type: 'charset.unsupported' });
  }
  requireWholeBody(request);
}

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
