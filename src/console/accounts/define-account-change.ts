import Joi from 'joi';
import type { Account } from '../../accounts/account.model.js';
import { requireAccount } from '../../accounts/find-account.js';
import type { ChangedBy } from '../../audit/record-audit.js';
import type { OperatorAction } from '../../operators/rights.js';
import {
  defineConsoleOperation,
  reasonBody,
  requiredObject,
  usernameParams,
  type AnyConsoleOperation,
  type Reason,
} from '../api/console-operation.js';

interface AccountChange<Body extends Reason, Answer> {
  id: string;
  /** Path segment after the account. */
  verb: string;
  action: OperatorAction;
  summary: string;
  body?: Joi.ObjectSchema<Body>;
  /** Schema of the response data. Default: `changedData`. */
  data?: Joi.Schema;
  run: (account: Account, change: { body: Body; by: ChangedBy }) => Promise<Answer>;
}

/** Response data of an action that may find nothing to change. */
export const changedData = requiredObject({ changed: Joi.boolean() });

/** Defines an operation that changes one account. */
export function defineAccountChange<Answer, Body extends Reason = Reason>({
  verb,
  body = reasonBody as unknown as Joi.ObjectSchema<Body>,
  data = changedData,
  run,
  ...rest
}: AccountChange<Body, Answer>): AnyConsoleOperation<Answer> {
  return defineConsoleOperation({
    ...rest,
    method: 'post',
    path: `/accounts/:username/${verb}`,
    params: usernameParams,
    body,
    data,
    handle: async (call) => run(await requireAccount(call.params.username), call),
  });
}
