import Joi from 'joi';
import type { Account } from '../../accounts/account.model.js';
import { requireAccount } from '../../accounts/require-account.js';
import type { ChangedBy } from '../../audit/record-audit.js';
import type { OperatorAction } from '../../operators/rights.js';
import {
  defineConsoleOperation,
  reasonBody,
  shape,
  usernameParams,
  type AnyConsoleOperation,
  type Reason,
} from '../api/console-operation.js';

interface AccountChange<Body extends Reason, Answer> {
  id: string;
  /** What comes after the account in the path. */
  verb: string;
  action: OperatorAction;
  summary: string;
  body?: Joi.ObjectSchema<Body>;
  /** What it answers; by default whether it changed anything. */
  data?: Joi.Schema;
  run: (account: Account, change: { body: Body; by: ChangedBy }) => Promise<Answer>;
}

/** Whether a change changed anything. */
export const changedData = shape({ changed: Joi.boolean() });

/** A change of one account. */
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
