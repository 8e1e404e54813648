/**
 * Console API operations as data: path, right, input and response. The router, the OpenAPI document
 * and the tests of rights use the same list.
 */
import Joi from 'joi';
import { getInputLimits } from '../../api/contract/input-limits.js';
import { text } from '../../api/contract/fields.js';
import type { ChangedBy } from '../../audit/record-audit.js';
import type { ProofClient } from '../../operators/login.js';
import type { Operator } from '../../operators/operator.model.js';
import type { SessionClient } from '../../operators/sessions.js';
import {
  priceGroupPattern,
  priceGroupRule,
  reasonLengthMax,
  letterOrDigitPattern,
} from '../../shared/input-rules.js';
import { getRight, type OperatorAction } from '../../operators/rights.js';

/** The browser from which the request came. */
export interface OperatorBrowser {
  /** Address, network and user agent of the browser. */
  client: SessionClient & ProofClient;
  /** Id of the browser's session, as lists show it. */
  sessionId: string;
  /** Gives the browser a new session in place of one that has ended. */
  startSession(operator: Operator): Promise<void>;
  /** Clears the session cookies. */
  clearSession(): void;
}

export interface ConsoleCall<Body, Params, Query> {
  operator: Operator;
  /** Actor, address and reason (from the body, if it has one) for the audit log. */
  by: ChangedBy;
  body: Body;
  params: Params;
  query: Query;
  browser: OperatorBrowser;
}

export interface ConsoleOperation<Body = unknown, Params = unknown, Query = unknown, Answer = unknown> {
  /** Unique `operationId` in the OpenAPI document, in camelCase. */
  id: string;
  method: 'get' | 'post';
  /** Express path below /admin/api. */
  path: string;
  action: OperatorAction;
  /**
   * True for a read that is sent as a POST because its input, such as a file, does not fit into a
   * URL.
   */
  asks?: true;
  /** Maximum size of the body in bytes. Default: the limit of all JSON bodies. */
  bodyBytesMax?: number;
  summary: string;
  body?: Joi.ObjectSchema<Body>;
  params?: Joi.ObjectSchema<Params>;
  query?: Joi.ObjectSchema<Query>;
  /** Schema of `data` in the response. */
  data: Joi.Schema;
  handle(call: ConsoleCall<Body, Params, Query>): Promise<Answer>;
}

/** Any console operation. Its schemas validate the input before `handle` runs. */
export type AnyConsoleOperation<Answer = unknown> = ConsoleOperation<never, never, never, Answer>;

/**
 * Returns the operation, with `handle` typed by its schemas.
 * @throws Error if a schema has no size limits, if the action has no right, or if the method does
 * not match the kind of right (read or change).
 */
export function defineConsoleOperation<Body = unknown, Params = unknown, Query = unknown, Answer = unknown>(
  operation: ConsoleOperation<Body, Params, Query, Answer>,
): AnyConsoleOperation<Answer> {
  const { id, method, action, asks = method === 'get' } = operation;
  for (const schema of [operation.body, operation.params, operation.query]) {
    if (schema) {
      getInputLimits(schema);
    }
  }
  if (asks !== (getRight(action).kind === 'read')) {
    throw new Error(`${id} is a ${method}, but ${action} is a right of kind ${getRight(action).kind}`);
  }
  return operation as unknown as AnyConsoleOperation<Answer>;
}

/** Reason of the operator. Every change needs one. */
export const reason = text(reasonLengthMax)
  .pattern(letterOrDigitPattern)
  .required()
  .messages({ 'string.pattern.base': '{{#label}} must say why' });

export interface Reason {
  reason: string;
}

export const reasonBody = Joi.object<Reason>({ reason });

/** Builds the schema of an object in a response. Every field is required. */
export function requiredObject(fields: Record<string, Joi.Schema>): Joi.ObjectSchema {
  return Joi.object(
    Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, schema.required()])),
  );
}

/** Name of a price group. */
export const priceGroup = Joi.string()
  .max(32)
  .pattern(priceGroupPattern)
  .messages({ 'string.pattern.base': `{{#label}}: ${priceGroupRule}` });

/** Path parameters of an operation on one document. */
export const idParams = Joi.object<{ id: string }>({ id: text(200).required() });

/** Path parameters of an operation on one account or operator. */
export const usernameParams = Joi.object<{ username: string }>({ username: text(64).required() });
