import { IncomingMessage, ServerResponse } from 'node:http';
import type { Express } from 'express';

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
