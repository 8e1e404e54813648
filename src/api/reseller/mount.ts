import { Router, type Request, type RequestHandler, type Response } from 'express';
import { httpStatusOf } from '../http-status.js';
import type { Account } from '../../accounts/account.model.js';
import { authenticateSign } from '../../accounts/authenticate-sign.js';
import { MaintenanceError } from '../../shared/errors.js';
import { logger } from '../../shared/logger.js';
import { applyAccessRules } from '../middleware/access-rules.js';
import { addressOf } from '../middleware/address.js';
import { toAppError } from '../middleware/errors.js';
import { queryOf } from '../middleware/query.js';
import { limitFailedAuthentication } from '../middleware/rate-limit.js';
import { contextOf } from '../middleware/request-context.js';
import { refuseMethod } from '../mount.js';
import { whileMongoAnswers } from '../patience.js';
import { validate } from '../validate.js';
import type { AnyResellerOperation, ResellerAnswer } from './reseller-operation.js';

/** A router that serves the calls by GET alone: HEAD, which Express would answer by the same handler, must not buy. */
export function mountResellerOperations(operations: AnyResellerOperation[]): Router {
  const router = Router({ caseSensitive: true });
  for (const operation of operations) {
    router.all(operation.path, onlyGet, serve(operation));
  }
  return router;
}

const onlyGet: RequestHandler = (request, response, next) => {
  if (request.method === 'GET') {
    next();
  } else {
    refuseMethod(['GET'])(request, response, next);
  }
};

/** Always HTTP 200: reseller engines read the body alone (decision 013). */
function serve(operation: AnyResellerOperation): RequestHandler {
  return async (request, response) => {
    const answer = await answerOf(operation, request, response).catch((error: unknown) =>
      failure(error, response),
    );
    contextOf(response).code = answer.status;
    response.set('Cache-Control', 'no-store').json(answer);
  };
}

async function answerOf(
  operation: AnyResellerOperation,
  request: Request,
  response: Response,
): Promise<ResellerAnswer> {
  const query = queryOf(request);
  const account = await whileMongoAnswers(accountOf(operation, request, query));
  contextOf(response).accountId = account._id;
  await applyAccessRules(account, addressOf(request), response);
  return operation.handle({ account, query: validate(operation.query, query) });
}

function accountOf(
  operation: AnyResellerOperation,
  request: Request,
  query: Record<string, string>,
): Promise<Account> {
  const { username = '', sign = '' } = query;
  const signed = { username, sign, ...operation.signed(query) };
  return limitFailedAuthentication(addressOf(request), authenticateSign(signed));
}

/** A failure in the envelope of 2.13. Without `transaction_status`: it is about this call, not about a transaction. */
function failure(error: unknown, response: Response): ResellerAnswer {
  const known = toAppError(error);
  if (httpStatusOf(known) >= 500 && !(known instanceof MaintenanceError)) {
    logger.error('reseller call failed', { requestId: contextOf(response).requestId, error });
  }
  if (known.retryAfterS !== undefined) {
    response.set('Retry-After', String(known.retryAfterS));
  }
  return { status: known.code, message: known.message };
}
