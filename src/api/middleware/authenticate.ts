import type { RequestHandler, Response } from 'express';
import { authenticate, type Authenticated } from '../../accounts/authenticate.js';
import { UnauthorizedError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import { whileMongoAnswers } from '../patience.js';
import { getClientAddress } from './address.js';
import { limitFailedAuthentication } from './rate-limit.js';
import { getRequestContext } from './request-context.js';

/**
 * Finds the account of the bearer key or access token (docs/reference/api/authentication.md). 401/07 without a valid one;
 * 429/06 after too many wrong ones from one address, which never stops a right one.
 */
export const authenticateRequest: RequestHandler = async (request, response, next) => {
  const match = /^Bearer +(\S+)$/i.exec(request.get('authorization') ?? '');
  if (!match?.[1]) {
    throw new UnauthorizedError(say('sendApiKey'), 'credentials_missing');
  }
  const known = whileMongoAnswers(authenticate(match[1]));
  const found = await limitFailedAuthentication(getClientAddress(request), known);
  response.locals['authenticated'] = found;
  getRequestContext(response).accountId = found.account._id;
  next();
};

export function getAuthenticated(response: Response): Authenticated {
  return response.locals['authenticated'] as Authenticated;
}
