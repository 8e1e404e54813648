import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import { text } from '../../api/contract/fields.js';
import { findUsernames } from '../../accounts/find-account.js';
import { confirmStatement } from '../../deposits/bank/confirm-statement.js';
import { bankLineStatuses } from '../../deposits/bank/bank-line.model.js';
import { listCorrections } from '../../deposits/bank/list-corrections.js';
import { lineMatches, type LineMatch } from '../../deposits/bank/line-match.js';
import { planStatement, type PlannedLine } from '../../deposits/bank/plan-statement.js';
import { readBankStatement } from '../../deposits/bank/read-bank-statement.js';
import { bankLineRefusals } from '../../deposits/bank/statement-line.js';
import { lookUp } from '../../shared/collections.js';
import { defineConsoleOperation, reason, requiredObject, type Reason } from '../api/console-operation.js';

/** Maximum number of rows shown per list. Counts cover all rows. */
const shownMax = 200;

/** Maximum length of a statement file in base64. */
const base64Max = Math.ceil(limits.bankStatementBytesMax / 3) * 4;
const bankStatement = Joi.string()
  .max(base64Max)
  .required()
  .description('A bank statement (CSV, HTML table, MT940 or CAMT.053) in base64.');
const bodyBytesMax = base64Max + 10_000;

export const previewBankStatement = defineConsoleOperation<{ file: string }>({
  id: 'previewBankStatement',
  method: 'post',
  path: '/bank-statements/preview',
  action: 'bank-line.look',
  asks: true,
  bodyBytesMax,
  summary: 'Preview which deposits a bank statement would confirm, and what its other lines match',
  body: Joi.object<{ file: string }>({ file: bankStatement }),
  data: requiredObject({
    incoming: Joi.number(),
    outgoing: Joi.number(),
    others: Joi.number().description('Lines without an amount: balances, sums, addresses.'),
    first_day: Joi.string().allow(null).description('The first day of the incoming lines.'),
    last_day: Joi.string().allow(null),
    is_order_told: Joi.boolean().description(
      'False: every day could be a month (08/09/2026). Dates are read day first; check that this is right.',
    ),
    matches: requiredObject(Object.fromEntries(lineMatches.map((match) => [match, Joi.number()]))),
    amount_named: Joi.number().description('Rupiah of deposits that are matched by our id.'),
    amount_referenced: Joi.number().description(
      'Rupiah of deposits that are matched by a `ref_id` in the text. Clients choose it.',
    ),
    amount_by_amount: Joi.number().description('Rupiah of deposits that are matched by the amount alone.'),
    lines: Joi.array().items(
      requiredObject({
        line: Joi.number(),
        day: Joi.string(),
        amount: Joi.number(),
        description: Joi.string().allow(''),
        match: Joi.string().valid(...lineMatches),
        same_before: Joi.boolean().description(
          'A line of this amount, at most a day apart, was used or set aside: it may be the same payment.',
        ),
        deposits: Joi.array().items(
          requiredObject({
            id: Joi.string(),
            account: Joi.string(),
            ref_id: Joi.string(),
            status: Joi.string(),
          }),
        ),
      }),
    ),
    refused_found: Joi.number(),
    refused: Joi.array().items(
      requiredObject({
        line: Joi.number(),
        why: Joi.string().valid(...bankLineRefusals),
        column: Joi.string().allow(null).description('Heading of the column that cannot be read.'),
      }),
    ),
    corrections_found: Joi.number(),
    corrections: Joi.array()
      .items(
        requiredObject({
          line: Joi.number().allow(null).description('Null for a correction of an earlier statement.'),
          day: Joi.string().allow(null),
          amount: Joi.number(),
          description: Joi.string().allow(''),
          payment: requiredObject({
            line: Joi.number().allow(null),
            day: Joi.string(),
            description: Joi.string().allow(''),
            status: Joi.string().valid(...bankLineStatuses),
            deposit_id: Joi.string().allow(null),
          })
            .allow(null)
            .description('The payment that it takes back. Null if it is not known yet.'),
        }),
      )
      .description('New corrections by the bank, those of credited payments first.'),
    outgoing_lines: Joi.array().items(
      requiredObject({
        line: Joi.number(),
        day: Joi.string().allow(null),
        amount: Joi.number(),
        description: Joi.string().allow(''),
      }),
    ),
    other_lines: Joi.array()
      .items(requiredObject({ line: Joi.number(), text: Joi.string().allow('') }))
      .description('Lines without an amount.'),
    fingerprint: Joi.string().description('Hash of the preview. Pass it to confirm exactly these deposits.'),
  }),
  async handle({ body: { file } }) {
    const plan = await planStatement(await readBankStatement(Buffer.from(file, 'base64')));
    const { lines, days, outgoing, outgoingLines, others, otherLines, refused, fingerprint } = plan;
    const corrections = listCorrections(plan.taken);
    const those = (wanted: LineMatch) => lines.filter(({ match }) => match === wanted);
    const sumOf = (wanted: LineMatch) => those(wanted).reduce((total, { amount }) => total + amount, 0);
    return {
      incoming: lines.length,
      outgoing,
      others,
      fingerprint,
      first_day: days?.first ?? null,
      last_day: days?.last ?? null,
      is_order_told: days?.isOrderTold ?? true,
      matches: Object.fromEntries(lineMatches.map((match) => [match, those(match).length])),
      amount_named: sumOf('named'),
      amount_referenced: sumOf('referenced'),
      amount_by_amount: sumOf('amount'),
      lines: await present(lines),
      refused_found: refused.length,
      refused: refused
        .slice(0, shownMax)
        .map(({ line, why, column }) => ({ line, why, column: column ?? null })),
      corrections_found: corrections.length,
      corrections: corrections.slice(0, shownMax).map(({ payment, ...rest }) => ({
        ...rest,
        payment: payment && {
          line: payment.line,
          day: payment.day,
          description: payment.description,
          status: payment.status,
          deposit_id: payment.depositId,
        },
      })),
      outgoing_lines: outgoingLines.slice(0, shownMax),
      other_lines: otherLines.slice(0, shownMax),
    };
  },
});

async function present(lines: readonly PlannedLine[]) {
  // Lines are sorted by match, so that those that need an operator come first.
  const rank = ({ match }: PlannedLine) => lineMatches.indexOf(match);
  const shown = [...lines].sort((a, b) => rank(a) - rank(b) || a.line - b.line).slice(0, shownMax);
  const usernames = await findUsernames(
    shown.flatMap(({ deposits }) => deposits.map(({ accountId }) => accountId)),
  );
  return shown.map(({ line, day, amount, description, match, sameBefore, deposits }) => ({
    line,
    day,
    amount,
    description,
    match,
    same_before: sameBefore,
    deposits: deposits.map((each) => ({
      id: each._id,
      ref_id: each.refId,
      status: each.status,
      account: lookUp(usernames, each.accountId) ?? '',
    })),
  }));
}

interface ConfirmBody extends Reason {
  file: string;
  name: string;
  fingerprint: string;
  by_reference: boolean;
  by_amount: boolean;
}

export const confirmBankStatement = defineConsoleOperation<ConfirmBody>({
  id: 'confirmBankStatement',
  method: 'post',
  path: '/bank-statements',
  action: 'deposit.decide',
  bodyBytesMax,
  summary: 'Confirm the deposits of a previewed bank statement and store its lines',
  body: Joi.object<ConfirmBody>({
    file: bankStatement,
    name: text(200).required(),
    fingerprint: text(64).required(),
    by_reference: Joi.boolean()
      .default(false)
      .description(
        'Also confirm lines whose text has the `ref_id` of the only pending deposit of the amount.',
      ),
    by_amount: Joi.boolean()
      .default(false)
      .description('Also confirm lines without a reference if only one pending deposit has the amount.'),
    reason,
  }),
  data: requiredObject({
    confirmed: Joi.number(),
    stood: Joi.number().description('Deposits that had been credited in the meantime.'),
    kept: Joi.number().description('Lines that were stored because no earlier statement had them.'),
    corrected: Joi.number().description(
      'Corrections that were stored. Those of credited payments have opened a case.',
    ),
    left_found: Joi.number().description('Lines whose deposit somebody else decided in the meantime.'),
    left: Joi.array().items(requiredObject({ line: Joi.number(), why: Joi.string() })),
  }),
  async handle({ body: { file, name, fingerprint, by_reference, by_amount }, by }) {
    const bytes = Buffer.from(file, 'base64');
    const trusted = { byReference: by_reference, byAmount: by_amount };
    const asked = { bytes, file: name, fingerprint, ...trusted };
    const { confirmed, stood, kept, corrected, left } = await confirmStatement(asked, by);
    return { confirmed, stood, kept, corrected, left_found: left.length, left: left.slice(0, shownMax) };
  },
});
