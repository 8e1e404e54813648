/**
 * A call of the reseller surface as data (docs/reference/api/reseller.md). The router and the
 * OpenAPI document are both built from it. The response is a flat object whose `status` is the
 * code.
 */
import Joi from 'joi';
import type { Account } from '../../accounts/account.model.js';
import type { ResponseCode } from '../../shared/errors.js';
import type { SignKind } from '../../accounts/authenticate-sign.js';
import { getInputLimits } from '../contract/input-limits.js';
import { text } from '../contract/fields.js';
import type { Message } from '../../shared/say.js';

/** Fields other than status and message depend on the call. */
export interface ResellerResponse {
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
  /** Unique name in the OpenAPI document, in camelCase. */
  id: string;
  path: string;
  summary: string;
  description?: string;
  /** Parameters in addition to username and sign. Every value is text. */
  query: Joi.ObjectSchema<Query>;
  /** Fields of a success in addition to status and message. */
  answer: Record<string, Joi.Schema>;
  /** Fields of responses with other codes, if the call is about an existing transaction. */
  otherAnswer?: Record<string, Joi.Schema>;
  /**
   * Returns the texts that the two kinds of sign cover; see authenticateSign. The query is not
   * validated.
   */
  signed(query: Record<string, string>): { md5Covers: string; hmacCovers: string };
  handle(call: ResellerCall<Query>): Promise<ResellerResponse>;
  /**
   * Called if the sign is valid but the call is refused before `handle`. It is awaited before the
   * refusal is sent. The values are not validated.
   */
  onRefused?(call: ResellerCall<Record<string, string>>): Promise<void>;
}

/** Any call of the surface. Its schema has validated the query before `handle` gets it. */
export type AnyResellerOperation = ResellerOperation<never>;

/**
 * Types `handle` by the query schema.
 * @throws Error if the schema has no size limits; see input-limits.ts.
 */
export function defineResellerOperation<Query>(operation: ResellerOperation<Query>): AnyResellerOperation {
  getInputLimits(operation.query);
  return operation as unknown as AnyResellerOperation;
}

/**
 * Part of every query. Authentication checks these parameters. This schema describes them for the
 * contract.
 */
export const credentials = Joi.object({
  username: text(40).required(),
  sign: Joi.string()
    .pattern(/^([0-9a-f]{32}|[0-9a-f]{64})$/)
    .required()
    .description(
      '64 hex digits: HMAC-SHA256 with the API key over the text described below. ' +
        '32 hex digits: the md5 that reseller engines use.',
    ),
});
