import { IncomingMessage, ServerResponse } from 'node:http';
import type { Express } from 'express';

/**
 * Express changes the prototype of every request and response, which costs half of its time. Requests that are
 * born with the prototypes it wants make that a no-op (docs/decisions/004-express-prototypes.md).
 */
export function prototypesOf(app: Express) {
  return {
    IncomingMessage: bornWith(IncomingMessage, app.request),
    ServerResponse: bornWith(ServerResponse, app.response),
  };
}

function bornWith<C extends new (...args: never[]) => object>(base: C, prototype: object): C {
  function Born(...args: never[]): object {
    return Reflect.construct(base, args, Born) as object;
  }
  Born.prototype = prototype;
  return Born as unknown as C;
}
