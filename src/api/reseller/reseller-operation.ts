/**
 * A call of the reseller-software surface as data (docs/reference/api/reseller.md). As with other operations the
 * router mounts it and the OpenAPI document is made from it; the answer is a flat object whose `status` carries the
 * code.
 */
import Joi from 'joi';
import type { Account } from '../../accounts/account.model.js';
import type { ResponseCode } from '../../shared/errors.js';
import type { SignKind } from '../../accounts/authenticate-sign.js';
import { getInputLimits } from '../contract/input-limits.js';
import { text } from '../contract/fields.js';
import type { Message } from '../../shared/say.js';

/** What is beside status and message depends on the call. */
export interface ResellerAnswer {
  status: ResponseCode;
  message: Message;
  [field: string]: unknown;
}

export interface ResellerCall<Query> {
  account: Account;
  query: Query;
  signedBy: SignKind;
  requestId: string;
}

export interface ResellerOperation<Query = unknown> {
  /** Name in the OpenAPI document, in camelCase, unique. */
  id: string;
  path: string;
  summary: string;
  description?: string;
  /** What it takes beside username and sign. Every value is text. */
  query: Joi.ObjectSchema<Query>;
  /** The answer when all is well, beside status and message. */
  answer: Record<string, Joi.Schema>;
  /** What can stand beside another status than 00, where the call is about something that exists. */
  otherAnswer?: Record<string, Joi.Schema>;
  /** What the two kinds of sign cover; see authenticateSign. The query is unchecked. */
  signed(query: Record<string, string>): { md5Covers: string; hmacCovers: string };
  handle(call: ResellerCall<Query>): Promise<ResellerAnswer>;
  /** Awaited before the refusal of a call with a right sign that `handle` never sees. Its values are unchecked. */
  onRefused?(call: ResellerCall<Record<string, string>>): Promise<void>;
}

/** Any call of the surface; its schema has checked the query before `handle` sees it. */
export type AnyResellerOperation = ResellerOperation<never>;

/** Gives `handle` the types of the schema beside it. @throws Error where that bounds nothing: see input-limits.ts. */
export function defineResellerOperation<Query>(operation: ResellerOperation<Query>): AnyResellerOperation {
  getInputLimits(operation.query);
  return operation as unknown as AnyResellerOperation;
}

/** Part of every query; checked by the authentication, described here for the contract. */
export const credentials = Joi.object({
  username: text(40).required(),
  sign: Joi.string()
    .pattern(/^([0-9a-f]{32}|[0-9a-f]{64})$/)
    .required()
    .description(
      '64 hex digits: HMAC-SHA256 with the API key over the text described below. ' +
        '32 hex digits: the md5 that reseller engines know.',
    ),
});
