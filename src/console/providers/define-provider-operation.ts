import type Joi from 'joi';
import type { Account } from '../../accounts/account.model.js';
import { requireAccount } from '../../accounts/find-account.js';
import type { ChangedBy } from '../../audit/record-audit.js';
import type { OperatorAction } from '../../operators/rights.js';
import { NotFoundError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import {
  defineConsoleOperation,
  usernameParams,
  type AnyConsoleOperation,
} from '../api/console-operation.js';

interface ProviderOperation<Body, Query, Answer> {
  id: string;
  method: 'get' | 'post';
  /** Path segment after the seller. Absent if the operation concerns the provider itself. */
  verb?: string;
  action: OperatorAction;
  asks?: true;
  bodyBytesMax?: number;
  summary: string;
  body?: Joi.ObjectSchema<Body>;
  query?: Joi.ObjectSchema<Query>;
  data: Joi.Schema;
  run: (seller: Account, call: { body: Body; query: Query; by: ChangedBy }) => Promise<Answer>;
}

/** Defines an operation on the provider of one seller. */
export function defineProviderOperation<Answer, Body = unknown, Query = unknown>({
  verb,
  run,
  ...rest
}: ProviderOperation<Body, Query, Answer>): AnyConsoleOperation<Answer> {
  return defineConsoleOperation({
    ...rest,
    path: `/providers/:username${verb === undefined ? '' : `/${verb}`}`,
    params: usernameParams,
    async handle(call) {
      const seller = await requireAccount(call.params.username);
      if (!seller.provider) {
        throw new NotFoundError(asWritten(`${seller.username} has no provider`));
      }
      return run(seller, call);
    },
  });
}
