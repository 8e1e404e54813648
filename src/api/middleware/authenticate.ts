import type { Request, RequestHandler, Response } from 'express';
import ipaddr from 'ipaddr.js';
import type { Account } from '../../accounts/account.model.js';
import { authenticateKey } from '../../accounts/authenticate.js';
import { UnauthorizedError } from '../../shared/errors.js';
import { contextOf } from './request-context.js';

/** Finds the account of the bearer key (interface part 5). 401/07 without a valid key. */
export const authenticateRequest: RequestHandler = async (request, response, next) => {
  const match = /^Bearer +(\S+)$/i.exec(request.get('authorization') ?? '');
  if (!match?.[1]) {
    throw new UnauthorizedError('Send your API key in the header "Authorization: Bearer <API_KEY>".');
  }
  const account = await authenticateKey(match[1]);
  response.locals['account'] = account;
  contextOf(response).accountId = account._id;
  next();
};

export function accountOf(response: Response): Account {
  return response.locals['account'] as Account;
}

/** The client's address; an IPv4 one that came mapped into IPv6 (`::ffff:`) is given as IPv4. */
export function addressOf(request: Request): string {
  const address = request.ip ?? '';
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}
