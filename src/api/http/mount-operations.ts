import Joi from 'joi';
import { Router, type Request, type RequestHandler, type Response } from 'express';
import { requireRole, requirePermission } from '../../accounts/authenticate.js';
import { groupBy } from '../../shared/collections.js';
import { HttpRequestError } from './http-status.js';
import { getClientAddress, parseQuery } from './read-request.js';
import { getAuthenticated, authenticateRequest } from './access-control.js';
import { getRequestContext } from './request-context.js';
import { getRequiredPermission, type AnyOperation, type Call, type Reply } from '../contract/operation.js';
import { sendFile, JsonList, sendJson } from './send-response.js';
import { failWhenMongoIsDown } from './mongo-timeout.js';
import { validate } from '../contract/validate.js';
import { computeDigest, matchesEtag } from './etag.js';
import { say } from '../../shared/say.js';
import { getMessageText } from '../language/response-language.js';

/**
 * Returns a router that serves the operations, and responds 405 to other methods on their paths.
 */
export function mountOperations(operations: AnyOperation[], accessRules: RequestHandler[]): Router {
  const router = Router({ caseSensitive: true });
  // Mounts path by path, so that a fixed name (webhooks/test) is never taken for an id.
  for (const [path, onPath] of groupBy(operations, (operation) => operation.path)) {
    for (const operation of onPath) {
      router[operation.method](
        path,
        recordOperation(operation),
        authenticateRequest,
        ...accessRules,
        createHandler(operation),
      );
    }
    router.all(path, refuseMethod(onPath.map(({ method }) => method.toUpperCase())));
  }
  return router;
}

/** Returns a handler that refuses a method with 405 and names the allowed ones in `Allow`. */
export function refuseMethod(allowed: string[]): RequestHandler {
  return (request, response) => {
    response.set('Allow', allowed.join(', '));
    throw new HttpRequestError(
      say('methodNotPossible', { method: request.method, allowed: allowed.join(' or ') }),
      405,
    );
  };
}

/** Runs first, so that refused calls are also counted for the operation. */
function recordOperation({ id, readsRequestLog }: AnyOperation): RequestHandler {
  return (_request, response, next) => {
    const context = getRequestContext(response);
    context.operation = id;
    context.readsRequestLog = readsRequestLog === true;
    next();
  };
}

function createHandler(operation: AnyOperation): RequestHandler {
  return async (request, response) => {
    const by = getAuthenticated(response);
    requireRole(by.account, operation.role);
    const reply = async () => {
      await requirePermission(by, getRequiredPermission(operation));
      return operation.handle(buildCall(operation, request, response));
    };
    await send(operation, { request, response }, await failWhenMongoIsDown(reply()));
  };
}

/** Input schema of operations without input. */
const emptySchema = Joi.object<never, false, object>({});

function buildCall(operation: AnyOperation, request: Request, response: Response): Call<never, never, never> {
  return {
    ...getAuthenticated(response),
    body: validate(operation.body ?? emptySchema, request.body ?? {}),
    params: validate(operation.params ?? emptySchema, request.params),
    // A query that the operation does not read is not checked.
    query: validate(operation.query ?? emptySchema, operation.query ? parseQuery(request) : {}),
    requestId: getRequestContext(response).requestId,
    address: getClientAddress(request),
    prefers: (type) => {
      const best = request.accepts(['application/json', type, `${type};charset=utf-8`]);
      return best !== false && best.startsWith(type);
    },
  };
}

async function send(
  operation: AnyOperation,
  { request, response }: { request: Request; response: Response },
  reply: Reply,
): Promise<void> {
  getRequestContext(response).code = reply.code ?? '00';
  if (operation.file === 'onRequest') {
    // The same URL returns a file to clients that accept one.
    response.vary('Accept');
  }
  if (reply.file) {
    await sendFile(response, reply.file);
    return;
  }
  response.set('Cache-Control', 'no-store');
  if (operation.conditional) {
    const tag = setEtag(response, reply);
    if (matchesEtag(tag, request.get('if-none-match'))) {
      response.status(304).end();
      return;
    }
  }
  response.status(reply.httpStatus ?? 200);
  const answer = {
    status: 'success',
    code: reply.code ?? '00',
    ...(reply.message !== undefined && { message: getMessageText(response, reply.message) }),
    data: reply.data,
  };
  getRequestContext(response).answer = reply.data instanceof JsonList ? null : answer;
  await sendJson(response, answer);
}

/** The client's own cache may keep the response, and must revalidate it each time. */
function setEtag(response: Response, { digest, data }: Reply): string {
  response.set('Cache-Control', 'private, no-cache');
  response.vary('Authorization');
  // Weak: the data is the same under any compression.
  const tag = digest ?? computeDigest(data);
  response.set('ETag', `W/"${tag}"`);
  return tag;
}
