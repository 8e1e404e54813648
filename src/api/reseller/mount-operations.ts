import { Router, type Request, type RequestHandler, type Response } from 'express';
import { setRetryAfter, getHttpStatus } from '../http/http-status.js';
import type { Account } from '../../accounts/account.model.js';
import { authenticateSign, requireActiveBuyer, getSignKind } from '../../accounts/authenticate-sign.js';
import { MaintenanceError, type AppError } from '../../shared/errors.js';
import { logger } from '../../shared/logger.js';
import { applyAccessRules, limitFailedAuthentication } from '../http/access-control.js';
import { getClientAddress, readQuery } from '../http/read-request.js';
import { toAppError } from '../http/error-envelope.js';
import { getRequestContext } from '../http/request-context.js';
import { refuseMethod } from '../http/mount-operations.js';
import { failWhenMongoIsDown } from '../http/mongo-timeout.js';
import { JsonList, sendJson } from '../http/send-response.js';
import { validate } from '../contract/validate.js';
import type { AnyResellerOperation, ResellerResponse, ResellerCall } from './reseller-operation.js';
import { setResponseLanguage, getMessageText } from '../language/response-language.js';

/**
 * Returns a router that serves the calls only by GET. Express would serve HEAD with the same
 * handler, but HEAD must not create a purchase.
 */
export function mountResellerOperations(operations: AnyResellerOperation[]): Router {
  const router = Router({ caseSensitive: true });
  for (const operation of operations) {
    router.all(operation.path, refuseOtherMethods(operation), serve(operation));
  }
  return router;
}

function refuseOtherMethods(operation: AnyResellerOperation): RequestHandler {
  return async (request, response, next) => {
    if (request.method === 'GET') {
      next();
      return;
    }
    // A request with another method still has a sign, which must be bound to its order.
    const signed = await authenticateCall(operation, request, response).catch(ignoreClientFailure);
    await (signed && operation.onRefused?.(signed.call));
    refuseMethod(['GET'])(request, response, next);
  };
}

/**
 * Ignores a failed authentication: the call binds nothing, and its 405 response does not reveal
 * whether the sign is valid.
 * @throws The error itself if it is not the caller's fault.
 */
function ignoreClientFailure(error: unknown): null {
  if (getHttpStatus(toAppError(error)) >= 500) {
    throw error;
  }
  return null;
}

/** Always responds HTTP 200, because reseller engines read only the body (decision 025). */
function serve(operation: AnyResellerOperation): RequestHandler {
  return async (request, response) => {
    getRequestContext(response).operation = operation.id;
    const answer = await handleCall(operation, request, response).catch((error: unknown) =>
      buildFailureResponse(error, response),
    );
    getRequestContext(response).code = answer.status;
    response.set('Cache-Control', 'no-store');
    const body = { ...answer, message: getMessageText(response, answer.message) };
    getRequestContext(response).answer = 'data' in body && body.data instanceof JsonList ? null : body;
    await sendJson(response, body);
  };
}

async function handleCall(
  operation: AnyResellerOperation,
  request: Request,
  response: Response,
): Promise<ResellerResponse> {
  const { call, objection } = await authenticateCall(operation, request, response);
  const query = () => {
    requireActiveBuyer(call.account);
    if (objection) {
      throw objection;
    }
    return validate(operation.query, call.query);
  };
  return operation.handle({ ...call, query: await bindSignIfRefused(operation, call, query) });
}

/** Binds the sign of a refused call to its order before the refusal is sent. */
async function bindSignIfRefused<T>(
  operation: AnyResellerOperation,
  call: ResellerCall<Record<string, string>>,
  check: () => T,
): Promise<T> {
  try {
    return check();
  } catch (refusal) {
    await operation.onRefused?.(call);
    throw refusal;
  }
}

/** Verifies the sign, and applies the account's allowlist and rate limit. */
async function authenticateCall(
  operation: AnyResellerOperation,
  request: Request,
  response: Response,
): Promise<{ call: ResellerCall<Record<string, string>>; objection: AppError | null }> {
  const { first, objection } = readQuery(request);
  const account = await failWhenMongoIsDown(findSigningAccount(operation, request, first));
  getRequestContext(response).accountId = account._id;
  setResponseLanguage(response, account.language ?? 'en');
  await applyAccessRules(account, getClientAddress(request), response);
  const { requestId } = getRequestContext(response);
  const signedBy = getSignKind(first['sign'] ?? '');
  return { call: { account, query: first, signedBy, requestId }, objection };
}

function findSigningAccount(
  operation: AnyResellerOperation,
  request: Request,
  query: Record<string, string>,
): Promise<Account> {
  const { username = '', sign = '' } = query;
  const signed = { username, sign, ...operation.signed(query) };
  return limitFailedAuthentication(getClientAddress(request), authenticateSign(signed));
}

/**
 * Builds the response to a failed call. It has no `transaction_status`, because the failure
 * concerns the call and not a transaction.
 */
function buildFailureResponse(error: unknown, response: Response): ResellerResponse {
  const known = toAppError(error);
  if (getHttpStatus(known) >= 500 && !(known instanceof MaintenanceError)) {
    getRequestContext(response).failed = true;
    logger.error('reseller call failed', { requestId: getRequestContext(response).requestId, error });
  }
  setRetryAfter(response, known);
  return { status: known.code, message: known.clientMessage, reason: known.reason };
}
