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
import { isSafeMethod, keepSession, getAdminSession } from './session.js';

const namedMax = 20;
const nameLengthMax = 100;

/**
 * The query of a call of the console, checked. A field that it does not know is refused: a filter whose name is misspelt would show, and
 * export, everything. The public interface ignores such fields (docs/reference/api/conventions.md#input), because its clients may be of a later release.
 * @throws ValidationError (400/01)
 */
export function consoleQuery<T>(schema: Joi.ObjectSchema<T>, request: Request): T {
  const query = parseQuery(request);
  const bounds = getInputLimits(schema);
  const unknown = Object.keys(query).filter((name) => bounds.kind !== 'object' || !bounds.fields.has(name));
  if (unknown.length > 0) {
    throw new ValidationError(
      unknown.slice(0, namedMax).map((name) => {
        const field = name.slice(0, nameLengthMax);
        return { field, reason: 'not_accepted', message: asWritten(`${field} is not known here`) };
      }),
    );
  }
  return validate(schema, query);
}

/** A page or a form of the console, for whoever is logged in. Each names its row in the table of rights. */
export interface ConsoleRoute {
  method: 'get' | 'post';
  path: string;
  action: OperatorAction;
  handle: (request: Request, response: Response) => Promise<void> | void;
}

/** @throws Error for a route whose action has no row, and for a form that only reads: neither can be mounted. */
export function mountConsole(routes: readonly ConsoleRoute[]): Router {
  const router = Router({ caseSensitive: true });
  for (const { method, path, action, handle } of routes) {
    if (method === 'post' && getRight(action).kind !== 'change') {
      throw new Error(`POST ${path} changes something; ${action} is for reading`);
    }
    router[method](path, allow(action), handle);
  }
  return router;
}

/**
 * Refuses whose role has no right to an action. Of a change it stands behind whatever reads the body: who makes it is asked then, as
 * the last thing before it is made (decision 026).
 * @throws Error for one without a row, when it is mounted.
 */
export function allow(action: OperatorAction): RequestHandler {
  getRight(action);
  return async (request, response, next) => {
    if (!isSafeMethod(request)) {
      await keepSession(request, response);
    }
    const { operator } = getAdminSession(response);
    if (!isAllowed(operator.role, action)) {
      throw new ForbiddenError(asWritten(describeRefusal(operator.role, action)));
    }
    next();
  };
}

/** Who makes a change here, for the audit log. */
export function changedByOperator(
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

/** Where a request comes from, as limits and the list of sessions have it. */
export function getRequestClient(request: Request): SessionClient & ProofClient {
  const address = getClientAddress(request);
  return { address, network: getSubscriberNetwork(address), browser: request.get('user-agent') ?? '' };
}
