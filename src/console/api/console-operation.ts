/**
 * A call of the console's pages as data: where it is, the row of the table of rights that it takes, what it takes and
 * returns. The router, the OpenAPI document and the tests of rights are made from the list of them.
 */
import Joi from 'joi';
import { boundsOf } from '../../api/bounds.js';
import { text } from '../../api/fields.js';
import type { ChangedBy } from '../../audit/record-audit.js';
import type { ProofSeat } from '../../operators/login.js';
import type { Operator } from '../../operators/operator.model.js';
import type { Seat } from '../../operators/sessions.js';
import { priceGroupPattern, priceGroupRule } from '../../shared/price-group.js';
import { reasonLengthMax, saysSomething } from '../../shared/reason.js';
import { rightTo, type OperatorAction } from '../../operators/rights.js';

/** The browser that asks. */
export interface AskingBrowser {
  /** Where it is. */
  seat: Seat & ProofSeat;
  /** Its session, as lists name it. */
  sessionId: string;
  /** Gives it a new session, in place of one that has ended. */
  letIn(operator: Operator): Promise<void>;
  /** Lets it forget its session. */
  letOut(): void;
}

export interface ConsoleCall<Body, Params, Query> {
  operator: Operator;
  /** For the audit log, with the reason of the body where it has one. */
  by: ChangedBy;
  body: Body;
  params: Params;
  query: Query;
  browser: AskingBrowser;
}

export interface ConsoleOperation<Body = unknown, Params = unknown, Query = unknown, Answer = unknown> {
  /** Name in the OpenAPI document, in camelCase, unique. */
  id: string;
  method: 'get' | 'post';
  /** Express path, below /admin/api. */
  path: string;
  action: OperatorAction;
  /** A question that does not fit into a URL, such as a file: it is sent as a POST, and changes nothing. */
  asks?: true;
  /** Of such a file; by default as everywhere. */
  bodyBytesMax?: number;
  summary: string;
  body?: Joi.ObjectSchema<Body>;
  params?: Joi.ObjectSchema<Params>;
  query?: Joi.ObjectSchema<Query>;
  /** Shape of `data`. */
  data: Joi.Schema;
  handle(call: ConsoleCall<Body, Params, Query>): Promise<Answer>;
}

/** Any of them; its schemas have checked the input before `handle` sees it. */
export type AnyConsoleOperation<Answer = unknown> = ConsoleOperation<never, never, never, Answer>;

/**
 * Gives `handle` the types of the schemas beside it.
 * @throws Error for input without bounds, an action without a row, and a change under a right to read.
 */
export function defineConsoleOperation<Body = unknown, Params = unknown, Query = unknown, Answer = unknown>(
  operation: ConsoleOperation<Body, Params, Query, Answer>,
): AnyConsoleOperation<Answer> {
  const { id, method, action, asks = method === 'get' } = operation;
  for (const schema of [operation.body, operation.params, operation.query]) {
    if (schema) {
      boundsOf(schema);
    }
  }
  if (asks !== (rightTo(action).kind === 'read')) {
    throw new Error(`${id} is a ${method} of ${action}, which is a right to ${rightTo(action).kind}`);
  }
  return operation as unknown as AnyConsoleOperation<Answer>;
}

/** Why an operator does it: no change without one. */
export const reason = text(reasonLengthMax)
  .pattern(saysSomething)
  .required()
  .messages({ 'string.pattern.base': '{{#label}} must say why' });

export interface Reason {
  reason: string;
}

export const reasonBody = Joi.object<Reason>({ reason });

/** A part of an answer: every field is always there. */
export function shape(fields: Record<string, Joi.Schema>): Joi.ObjectSchema {
  return Joi.object(
    Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, schema.required()])),
  );
}

/** How a price group is called. */
export const priceGroup = Joi.string()
  .max(32)
  .pattern(priceGroupPattern)
  .messages({ 'string.pattern.base': `{{#label}}: ${priceGroupRule}` });

/** An id in a path, of whatever it is. */
export const idParams = Joi.object<{ id: string }>({ id: text(200).required() });

/** An account in a path. */
export const usernameParams = Joi.object<{ username: string }>({ username: text(64).required() });
