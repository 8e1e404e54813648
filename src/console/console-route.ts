import { type Request, Router, type RequestHandler, type Response } from 'express';
import type Joi from 'joi';
import { getInputLimits } from '../api/contract/input-limits.js';
import { parseQuery, getClientAddress, getSubscriberNetwork } from '../api/http/read-request.js';
import { validate } from '../api/contract/validate.js';
import { ValidationError, ForbiddenError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import type { ChangedBy } from '../audit/record-audit.js';
import type { ProofClient } from '../operators/login.js';
import { isAllowed, describeRefusal, getRight, type OperatorAction } from '../operators/rights.js';
import type { SessionClient } from '../operators/sessions.js';
import { isSafeMethod, loadSession, getAdminSession } from './session.js';

const namedMax = 20;
const nameLengthMax = 100;

/**
 * Parses and validates the query of a console request. Unknown fields are refused, because a
 * misspelt filter would show and export everything.
 *
 * The public API ignores unknown fields (docs/reference/api/conventions.md#input), because a client
 * may be written for a later release.
 * @throws ValidationError (400/01) if a field is unknown or invalid.
 */
export function parseConsoleQuery<T>(schema: Joi.ObjectSchema<T>, request: Request): T {
  const query = parseQuery(request);
  const bounds = getInputLimits(schema);
  const unknown = Object.keys(query).filter((name) => bounds.kind !== 'object' || !bounds.fields.has(name));
  if (unknown.length > 0) {
    throw new ValidationError(
      unknown.slice(0, namedMax).map((name) => {
        const field = name.slice(0, nameLengthMax);
        return { field, reason: 'not_accepted', message: asWritten(`${field} is not a known field`) };
      }),
    );
  }
  return validate(schema, query);
}

/** A page or form of the console behind the login. `action` is its row in the table of rights. */
export interface ConsoleRoute {
  method: 'get' | 'post';
  path: string;
  action: OperatorAction;
  handle: (request: Request, response: Response) => Promise<void> | void;
}

/**
 * Mounts console routes.
 * @throws Error for a route whose action has no right, and for a POST whose action only reads.
 */
export function mountConsole(routes: readonly ConsoleRoute[]): Router {
  const router = Router({ caseSensitive: true });
  for (const { method, path, action, handle } of routes) {
    if (method === 'post' && getRight(action).kind !== 'change') {
      throw new Error(`POST ${path} needs a right to change; ${action} is a right to read`);
    }
    router[method](path, requireRight(action), handle);
  }
  return router;
}

/**
 * Builds middleware that refuses operators whose role may not perform the action. For a change, the
 * session is read again. Mount it after the body parsers, so that authorization is the last step
 * before the change (decision 026).
 * @throws Error when it is mounted, if the action has no right.
 */
export function requireRight(action: OperatorAction): RequestHandler {
  getRight(action);
  return async (request, response, next) => {
    if (!isSafeMethod(request)) {
      await loadSession(request, response);
    }
    const { operator } = getAdminSession(response);
    if (!isAllowed(operator.role, action)) {
      throw new ForbiddenError(asWritten(describeRefusal(operator.role, action)));
    }
    next();
  };
}

/** Builds the actor, address and reason of a change for the audit log. */
export function buildOperatorChangedBy(
  request: Request,
  response: Response,
  reason: string | null = null,
): ChangedBy {
  return {
    actor: `operator:${getAdminSession(response).operator.username}`,
    from: getClientAddress(request),
    reason: reason === '' ? null : reason,
  };
}

/** Returns address, subscriber network and user agent, for rate limits and the list of sessions. */
export function getRequestClient(request: Request): SessionClient & ProofClient {
  const address = getClientAddress(request);
  return { address, network: getSubscriberNetwork(address), browser: request.get('user-agent') ?? '' };
}
