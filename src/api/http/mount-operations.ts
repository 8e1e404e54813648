import Joi from 'joi';
import { Router, type Request, type RequestHandler, type Response } from 'express';
import { requireRole, requirePower } from '../../accounts/authenticate.js';
import { groupBy } from '../../shared/collections.js';
import { HttpRequestError } from './http-status.js';
import { getClientAddress, parseQuery } from './read-request.js';
import { getAuthenticated, authenticateRequest } from './access-control.js';
import { getRequestContext } from './request-context.js';
import { getRequiredPower, type AnyOperation, type Call, type Reply } from '../contract/operation.js';
import { sendFile, JsonList, sendJson } from './send-response.js';
import { whileMongoAnswers } from './mongo-timeout.js';
import { validate } from '../contract/validate.js';
import { computeDigest, matchesEtag } from './etag.js';
import { say } from '../../shared/say.js';
import { getMessageText } from '../language/response-language.js';

/** A router that serves the operations, and answers 405 for other methods on their paths. */
export function mountOperations(operations: AnyOperation[], accessRules: RequestHandler[]): Router {
  const router = Router({ caseSensitive: true });
  // Path by path, so that a name that stands where others have an id (webhooks/test) is never taken for one.
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

export function refuseMethod(allowed: string[]): RequestHandler {
  return (request, response) => {
    response.set('Allow', allowed.join(', '));
    throw new HttpRequestError(
      say('methodNotPossible', { method: request.method, allowed: allowed.join(' or ') }),
      405,
    );
  };
}

/** First, so that refused calls count as calls of it. */
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
      await requirePower(by, getRequiredPower(operation));
      return operation.handle(buildCall(operation, request, response));
    };
    await send(operation, { request, response }, await whileMongoAnswers(reply()));
  };
}

/** What an operation is given that takes none. */
const emptySchema = Joi.object<never, false, object>({});

function buildCall(operation: AnyOperation, request: Request, response: Response): Call<never, never, never> {
  return {
    ...getAuthenticated(response),
    body: validate(operation.body ?? emptySchema, request.body ?? {}),
    params: validate(operation.params ?? emptySchema, request.params),
    // A query that nobody reads may hold anything.
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
    // The same address gives a file to who accepts one.
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

/** A cache of the caller's own may keep the answer, and must ask each time whether it still holds. */
function setEtag(response: Response, { digest, data }: Reply): string {
  response.set('Cache-Control', 'private, no-cache');
  response.vary('Authorization');
  // Weak: it is the same data, whatever compresses it on the way.
  const tag = digest ?? computeDigest(data);
  response.set('ETag', `W/"${tag}"`);
  return tag;
}
