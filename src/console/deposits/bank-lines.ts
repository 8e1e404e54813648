import Joi from 'joi';
import { text, timestamp, wholeNumber, nameSchema } from '../../api/contract/fields.js';
import { findUsernames } from '../../accounts/find-account.js';
import { choicesMax } from '../../deposits/bank/choose-deposit.js';
import { resolveChoice, resolveLine } from '../../deposits/bank/resolve-choice.js';
import { lookUp } from '../../shared/collections.js';
import { bankLineStatuses, type BankLineStatus } from '../../deposits/bank/bank-line.model.js';
import { listBankLines } from '../../deposits/bank/bank-lines.js';
import { reopenLine, setLineAside, creditWithLine } from '../../deposits/bank/decide-line.js';
import {
  defineConsoleOperation,
  idParams,
  reason,
  reasonBody,
  requiredObject,
  type Reason,
} from '../api/console-operation.js';

interface Query {
  status: BankLineStatus;
  after?: string;
  limit: number;
}

export const listBankLinesCall = defineConsoleOperation({
  id: 'listBankLines',
  method: 'get',
  path: '/bank-lines',
  action: 'bank-line.look',
  summary: 'Lines of bank statements, by default incoming payments without a deposit, newest first',
  query: Joi.object<Query>({
    status: Joi.string()
      .valid(...bankLineStatuses)
      .default('open'),
    after: text(64),
    limit: wholeNumber({ max: 100, standard: 20 }),
  }),
  data: requiredObject({
    lines: Joi.array().items(
      nameSchema(
        'BankLine',
        requiredObject({
          id: Joi.string(),
          day: Joi.string(),
          amount: Joi.number(),
          description: Joi.string().allow(''),
          status: Joi.string().valid(...bankLineStatuses),
          deposit_id: Joi.string().allow(null),
          counterpart_id: Joi.string()
            .allow(null)
            .description('The line that takes this one back, or that this one takes back.'),
          file: Joi.string(),
          same_before: Joi.array()
            .items(
              requiredObject({
                id: Joi.string(),
                day: Joi.string(),
                status: Joi.string().valid(...bankLineStatuses),
                deposit_id: Joi.string().allow(null),
              }),
            )
            .description(
              'Decided lines of the same amount, at most a day apart: they may be the same payment.',
            ),
          choices: Joi.array()
            .items(
              requiredObject({
                id: Joi.string(),
                account: Joi.string(),
                ref_id: Joi.string(),
                created_at: timestamp,
              }),
            )
            .description('For an open line, pending deposits of its amount, newest first.'),
          more_choices: Joi.boolean().description('True if further pending deposits have the amount.'),
          decided: requiredObject({
            at: timestamp,
            actor: Joi.string(),
            reason: Joi.string().allow(null),
          }).allow(null),
        }),
      ),
    ),
    next: Joi.string().allow(null).description('Value of `after` for the next page.'),
  }),
  async handle({ query }) {
    const { lines, next } = await listBankLines(query);
    const usernames = await findUsernames(
      lines.flatMap(({ choices }) => choices.map(({ accountId }) => accountId)),
    );
    return {
      lines: lines.map(({ _id, day, amount, description, status, file, decided, sameBefore, ...of }) => ({
        id: _id,
        day,
        amount,
        description,
        status,
        deposit_id: of.depositId,
        counterpart_id: of.counterpartId ?? null,
        file,
        same_before: sameBefore.map((each) => ({
          id: each._id,
          day: each.day,
          status: each.status,
          deposit_id: each.depositId,
        })),
        choices: of.choices.slice(0, choicesMax).map((each) => ({
          id: each._id,
          account: lookUp(usernames, each.accountId) ?? '',
          ref_id: each.refId,
          created_at: each.createdAt.toISOString(),
        })),
        more_choices: of.choices.length > choicesMax,
        decided: decided && { at: decided.at.toISOString(), actor: decided.actor, reason: decided.reason },
      })),
      next,
    };
  },
});

const changedData = requiredObject({ changed: Joi.boolean().description('False: nothing has changed.') });

interface UseBody extends Reason {
  deposit_id: string;
  meant: boolean;
}

export const useBankLine = defineConsoleOperation({
  id: 'useBankLine',
  method: 'post',
  path: '/bank-lines/:id/use',
  action: 'deposit.decide',
  summary: 'Confirm a pending deposit of the same amount with an open line',
  params: idParams,
  body: Joi.object<UseBody>({
    deposit_id: text(64)
      .required()
      .description('Id of the deposit, or its `ref_id` if one pending deposit of the amount has it.'),
    meant: Joi.boolean()
      .default(false)
      .description('Confirm even if a decided line may be the same payment.'),
    reason,
  }),
  data: changedData,
  async handle({ params: { id }, body: { deposit_id, meant }, by }) {
    const lineId = await resolveLine(id);
    const depositId = await resolveChoice(lineId, deposit_id.trim());
    return creditWithLine({ lineId, depositId, meant }, by);
  },
});

export const setBankLineAside = defineConsoleOperation({
  id: 'setBankLineAside',
  method: 'post',
  path: '/bank-lines/:id/set-aside',
  action: 'deposit.decide',
  summary: 'Set a line aside because it pays for no deposit',
  params: idParams,
  body: reasonBody,
  data: changedData,
  handle: ({ params: { id }, by }) => setLineAside(id, by),
});

export const reopenBankLine = defineConsoleOperation({
  id: 'reopenBankLine',
  method: 'post',
  path: '/bank-lines/:id/reopen',
  action: 'deposit.decide',
  summary: 'Reopen a line that was set aside or taken back',
  params: idParams,
  body: reasonBody,
  data: changedData,
  handle: ({ params: { id }, by }) => reopenLine(id, by),
});
