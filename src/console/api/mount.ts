import Joi from 'joi';
import { Router, type Request, type RequestHandler, type Response } from 'express';
import { jsonBodyUpTo } from '../../api/middleware/json-body.js';
import { contextOf } from '../../api/middleware/request-context.js';
import { refuseMethod } from '../../api/mount.js';
import { whileMongoAnswers } from '../../api/patience.js';
import { validate } from '../../api/validate.js';
import { groupBy } from '../../shared/group-by.js';
import { sessionIdOf } from '../../operators/sessions.js';
import { consoleQuery } from '../console-query.js';
import { allow, changedByOperator, seatOf } from '../console-route.js';
import { letIn, letOut } from '../login-steps.js';
import { sessionOf } from '../session.js';
import type { AnyConsoleOperation, ConsoleCall } from './console-operation.js';

/** Serves the operations to whoever is logged in and has the right; who asks for a change was checked before. */
export function mountConsoleApi(operations: readonly AnyConsoleOperation[]): Router {
  const router = Router({ caseSensitive: true });
  for (const [path, onPath] of groupBy(operations, (operation) => operation.path)) {
    for (const operation of onPath) {
      router[operation.method](
        path,
        ...jsonBodyUpTo(operation.bodyBytesMax),
        allow(operation.action),
        serve(operation),
      );
    }
    router.all(path, refuseMethod(onPath.map(({ method }) => method.toUpperCase())));
  }
  return router;
}

function serve(operation: AnyConsoleOperation): RequestHandler {
  return async (request, response) => {
    const call = callOf(operation, request, response);
    const data = await whileMongoAnswers(operation.handle(call));
    contextOf(response).code = '00';
    response.json({ status: 'success', code: '00', data });
  };
}

const nothing = Joi.object<never, false, object>({});

function callOf(
  operation: AnyConsoleOperation,
  request: Request,
  response: Response,
): ConsoleCall<never, never, never> {
  const body = validate<{ reason?: string }>(operation.body ?? nothing, request.body ?? {});
  const { operator, token } = sessionOf(response);
  return {
    operator,
    by: changedByOperator(request, response, body.reason ?? null),
    body: body as never,
    params: validate(operation.params ?? nothing, request.params),
    query: consoleQuery(operation.query ?? nothing, request),
    browser: {
      seat: seatOf(request),
      sessionId: sessionIdOf(token),
      letIn: (whom) => letIn(request, response, whom),
      letOut: () => letOut(response),
    },
  };
}
