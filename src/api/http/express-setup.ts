import { IncomingMessage, ServerResponse } from 'node:http';
import type { Express, RequestHandler } from 'express';
import { Socket } from 'node:net';
import helmet from 'helmet';

/**
 * Express changes the prototype of every request and response, which costs half of its time. Requests that are
 * born with the prototypes it wants make that a no-op (docs/decisions/026-requests-of-a-connection-run-one-after-another.md).
 */
export function buildExpressClasses(app: Express) {
  return {
    IncomingMessage: createClassWithPrototype(IncomingMessage, app.request),
    ServerResponse: createClassWithPrototype(ServerResponse, app.response),
  };
}

/**
 * Node's two are functions, and called as one function calls another V8 makes their objects in place. `Reflect.construct` would
 * give the same objects at three times the price of the whole call.
 */
function createClassWithPrototype<C extends new (...args: never[]) => object>(base: C, prototype: object): C {
  const init = base as unknown as (this: object, first: unknown, second: unknown) => void;
  function Born(this: object, first: unknown, second: unknown): void {
    init.call(this, first, second);
  }
  Born.prototype = prototype;
  return Born as unknown as C;
}

/**
 * What a request asks for. A target that is neither a path nor an address of a host, as `http://[::1/` or `abc://`, becomes a
 * path that there is not: the router of Express finds no path in it and would answer by itself, before anything of ours.
 */
export function normalizeRequestTarget(given = '/'): string {
  return given.startsWith('/') || (/^https?:\/\/[^/?#]/i.test(given) && URL.canParse(given))
    ? given
    : '/no-address';
}

/** The headers of helmet on every answer: they are always the same, so helmet is asked for them once. */
export function safeHeaders(): RequestHandler {
  const asked = new ServerResponse(new IncomingMessage(new Socket()));
  helmet()(asked.req, asked, (problem?: unknown) => {
    if (problem !== undefined) {
      throw problem instanceof Error ? problem : new Error('helmet gave no headers');
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
