import express, { type RequestHandler } from 'express';
import type { IncomingMessage } from 'node:http';
import { limits } from '../../../config/limits.js';
import { HttpRequestError } from './http-status.js';
import { say } from '../../shared/say.js';

/**
 * A body that exceeds its limit by no more than this is read to its end, so that the client can
 * read the response.
 */
const drainedBytesMax = 1_000_000;

/**
 * Refuses a body at once if its Content-Length is far above the limit. The parsers would read all
 * of it first.
 */
export function limitBodySize(bytesMax: number): RequestHandler {
  return (request, response, next) => {
    if (Number(request.get('content-length')) > bytesMax + drainedBytesMax) {
      response.set('Connection', 'close');
      // The same error as from the parsers of Express.
      throw Object.assign(new Error('The body is too large'), { type: 'entity.too.large', limit: bytesMax });
    }
    next();
  };
}

interface Bounds {
  /** Bytes, also after decompression. */
  limit: number;
}

/** Parses JSON in UTF-8. */
export function parseJson(bounds: Bounds): RequestHandler {
  return rejectBrokenBodies(express.json({ ...bounds, verify: requireWholeUtf8Body }));
}

/** Reads the raw bytes, which a signature covers, of any content type. */
export function parseBytes(bounds: Bounds): RequestHandler {
  return rejectBrokenBodies(express.raw({ ...bounds, type: () => true, verify: requireWholeBody }));
}

/** Parses an HTML form. */
export function parseForm(bounds: Bounds & { parameterLimit: number }): RequestHandler {
  return rejectBrokenBodies(express.urlencoded({ ...bounds, extended: false, verify: requireWholeBody }));
}

/**
 * Wraps a body parser. eslint.config.js allows body parsers only in this file.
 * Refuses zstd, which the parsers accept from Node 22.15 on: the contract has gzip, deflate and br.
 * Refuses a request whose connection broke before parsing, for example during a login. The parsers
 * would mistake it for a request without a body.
 */
function rejectBrokenBodies(parse: RequestHandler): RequestHandler {
  return (request, response, next) => {
    if (request.headers['content-encoding']?.toLowerCase() === 'zstd') {
      next(Object.assign(new Error('The body is compressed with zstd'), { type: 'encoding.unsupported' }));
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

/**
 * A compressed body can end before its request is complete. Such a request is refused, because
 * connection-queue.ts relies on incomplete requests not being executed.
 */
function requireWholeBody(request: IncomingMessage): void {
  if (!request.complete) {
    throw createAbortedError('goes on behind its body');
  }
}

/** The same error type as from the parsers. */
function createAbortedError(how: string): Error {
  return Object.assign(new Error(`The request ${how}`), { type: 'request.aborted' });
}

/**
 * Requires UTF-8. The parser also accepts UTF-7, UTF-16 and UTF-32, which a firewall in front of
 * the service could read differently.
 */
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

/**
 * Parses JSON objects of at most 100 kB. Other content types are refused before the body is read.
 */
export const jsonBody = createJsonBodyParsers();

/** Returns the same parsers as `jsonBody`, with a limit of `bytesMax` bytes. */
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
