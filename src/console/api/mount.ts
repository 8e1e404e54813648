import Joi from 'joi';
import { Router, type Request, type RequestHandler, type Response } from 'express';
import { createJsonBodyParsers } from '../../api/http/request-body.js';
import { getRequestContext } from '../../api/http/request-context.js';
import { refuseMethod } from '../../api/http/mount-operations.js';
import { failWhenMongoIsDown } from '../../api/http/mongo-timeout.js';
import { validate } from '../../api/contract/validate.js';
import { groupBy } from '../../shared/collections.js';
import { getSessionId } from '../../operators/sessions.js';
import {
  parseConsoleQuery,
  requireRight,
  buildOperatorChangedBy,
  getRequestClient,
} from '../console-route.js';
import { completeLogin, clearSessionCookies } from '../login-steps.js';
import { getAdminSession } from '../session.js';
import type { AnyConsoleOperation, ConsoleCall } from './console-operation.js';

/**
 * Mounts the operations and checks the operator's right for each. `requireSession` and
 * `guardChanges` must run first.
 */
export function mountConsoleApi(operations: readonly AnyConsoleOperation[]): Router {
  const router = Router({ caseSensitive: true });
  for (const [path, onPath] of groupBy(operations, (operation) => operation.path)) {
    for (const operation of onPath) {
      router[operation.method](
        path,
        ...createJsonBodyParsers(operation.bodyBytesMax),
        requireRight(operation.action),
        createHandler(operation),
      );
    }
    router.all(path, refuseMethod(onPath.map(({ method }) => method.toUpperCase())));
  }
  return router;
}

function createHandler(operation: AnyConsoleOperation): RequestHandler {
  return async (request, response) => {
    const call = buildCall(operation, request, response);
    const data = await failWhenMongoIsDown(operation.handle(call));
    getRequestContext(response).code = '00';
    response.json({ status: 'success', code: '00', data });
  };
}

const emptySchema = Joi.object<never, false, object>({});

function buildCall(
  operation: AnyConsoleOperation,
  request: Request,
  response: Response,
): ConsoleCall<never, never, never> {
  const body = validate<{ reason?: string }>(operation.body ?? emptySchema, request.body ?? {});
  const { operator, token } = getAdminSession(response);
  return {
    operator,
    by: buildOperatorChangedBy(request, response, body.reason ?? null),
    body: body as never,
    params: validate(operation.params ?? emptySchema, request.params),
    query: parseConsoleQuery(operation.query ?? emptySchema, request),
    browser: {
      client: getRequestClient(request),
      sessionId: getSessionId(token),
      startSession: (updatedOperator) => completeLogin(request, response, updatedOperator),
      clearSession: () => clearSessionCookies(response),
    },
  };
}
