/**
 * The parsers of bodies, and the only place that has them (eslint.config.js): nothing is done of a body that ends before its
 * request does, as a packed one can. Such a request still counts as one of which nothing is done (src/api/one-by-one.ts).
 */
import type { IncomingMessage } from 'node:http';
import express, { type RequestHandler } from 'express';

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
