import type { RequestHandler } from 'express';

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
