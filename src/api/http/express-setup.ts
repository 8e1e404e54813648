import { IncomingMessage, ServerResponse } from 'node:http';
import type { Express, RequestHandler } from 'express';
import { Socket } from 'node:net';
import helmet from 'helmet';

/**
 * Returns request and response classes that have the prototypes of Express. Express changes the
 * prototype of every other object, which costs half of its time
 * (docs/decisions/026-requests-of-a-connection-run-one-after-another.md).
 */
export function buildExpressClasses(app: Express) {
  return {
    IncomingMessage: createClassWithPrototype(IncomingMessage, app.request),
    ServerResponse: createClassWithPrototype(ServerResponse, app.response),
  };
}

/**
 * Node's classes are functions, so V8 creates their objects in place. `Reflect.construct` would
 * cost three times as much as the whole call.
 */
function createClassWithPrototype<C extends new (...args: never[]) => object>(base: C, prototype: object): C {
  const init = base as unknown as (this: object, first: unknown, second: unknown) => void;
  function Subclass(this: object, first: unknown, second: unknown): void {
    init.call(this, first, second);
  }
  Subclass.prototype = prototype;
  return Subclass as unknown as C;
}

/**
 * Returns the request target. A target that is neither a path nor a URL with a host, such as
 * `http://[::1/` or `abc://`, becomes a path that does not exist. Otherwise Express's router would
 * respond before our handlers run.
 */
export function normalizeRequestTarget(target = '/'): string {
  return target.startsWith('/') || (/^https?:\/\/[^/?#]/i.test(target) && URL.canParse(target))
    ? target
    : '/no-address';
}

/** Sets the headers of helmet on every response. They are always the same, so helmet runs once. */
export function setSecurityHeaders(): RequestHandler {
  const asked = new ServerResponse(new IncomingMessage(new Socket()));
  helmet()(asked.req, asked, (problem?: unknown) => {
    if (problem !== undefined) {
      throw problem instanceof Error ? problem : new Error('helmet returned no headers');
    }
  });
  const headers = Object.entries(asked.getHeaders());
  return (_request, response, next) => {
    for (const [name, value] of headers) {
      response.setHeader(name, value ?? '');
    }
    next();
  };
}
