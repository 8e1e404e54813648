import Joi from 'joi';
import { Router, type Request, type RequestHandler, type Response } from 'express';
import { requireRole } from '../accounts/authenticate.js';
import { requirePower } from '../accounts/require-power.js';
import { groupBy } from '../shared/group-by.js';
import { HttpRequestError } from './http-status.js';
import { addressOf } from './middleware/address.js';
import { authenticatedOf, authenticateRequest } from './middleware/authenticate.js';
import { queryOf } from './middleware/query.js';
import { contextOf } from './middleware/request-context.js';
import { powerOf, type AnyOperation, type Call, type Reply } from './operation.js';
import { sendFile } from './send-file.js';
import { JsonList, sendJson } from './send-json.js';
import { whileMongoAnswers } from './patience.js';
import { validate } from './validate.js';
import { digestOf, isNamed } from './validator.js';
import { say } from '../shared/say.js';
import { wordsIn } from './words-in.js';

/** A router that serves the operations, and answers 405 for other methods on their paths. */
export function mountOperations(operations: AnyOperation[], accessRules: RequestHandler[]): Router {
  const router = Router({ caseSensitive: true });
  // Path by path, so that a name that stands where others have an id (webhooks/test) is never taken for one.
  for (const [path, onPath] of groupBy(operations, (operation) => operation.path)) {
    for (const operation of onPath) {
      router[operation.method](
        path,
        nameOf(operation),
        authenticateRequest,
        ...accessRules,
        serve(operation),
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
function nameOf({ id, readsRequestLog }: AnyOperation): RequestHandler {
  return (_request, response, next) => {
    const context = contextOf(response);
    context.operation = id;
    context.readsRequestLog = readsRequestLog === true;
    next();
  };
}

function serve(operation: AnyOperation): RequestHandler {
  return async (request, response) => {
    const by = authenticatedOf(response);
    requireRole(by.account, operation.role);
    const reply = async () => {
      await requirePower(by, powerOf(operation));
      return operation.handle(callOf(operation, request, response));
    };
    await send(operation, { request, response }, await whileMongoAnswers(reply()));
  };
}

/** What an operation is given that takes none. */
const nothing = Joi.object<never, false, object>({});

function callOf(operation: AnyOperation, request: Request, response: Response): Call<never, never, never> {
  return {
    ...authenticatedOf(response),
    body: validate(operation.body ?? nothing, request.body ?? {}),
    params: validate(operation.params ?? nothing, request.params),
    // A query that nobody reads may hold anything.
    query: validate(operation.query ?? nothing, operation.query ? queryOf(request) : {}),
    requestId: contextOf(response).requestId,
    address: addressOf(request),
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
  contextOf(response).code = reply.code ?? '00';
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
    const tag = setValidator(response, reply);
    if (isNamed(tag, request.get('if-none-match'))) {
      response.status(304).end();
      return;
    }
  }
  response.status(reply.httpStatus ?? 200);
  const answer = {
    status: 'success',
    code: reply.code ?? '00',
    ...(reply.message !== undefined && { message: wordsIn(response, reply.message) }),
    data: reply.data,
  };
  contextOf(response).answer = reply.data instanceof JsonList ? null : answer;
  await sendJson(response, answer);
}

/** A cache of the caller's own may keep the answer, and must ask each time whether it still holds. */
function setValidator(response: Response, { digest, data }: Reply): string {
  response.set('Cache-Control', 'private, no-cache');
  response.vary('Authorization');
  // Weak: it is the same data, whatever compresses it on the way.
  const tag = digest ?? digestOf(data);
  response.set('ETag', `W/"${tag}"`);
  return tag;
}
