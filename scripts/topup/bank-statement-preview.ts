import type { LineMatch } from '../../src/deposits/bank/line-match.js';
import type { ListedCorrection } from '../../src/deposits/bank/list-corrections.js';
import type { PlannedLine, StatementPlan } from '../../src/deposits/bank/plan-statement.js';
import type { BankLineRefusal } from '../../src/deposits/bank/statement-line.js';
import { facts, formatHeading, rupiah, table } from './format.js';

/** Maximum number of lines printed per list. `--json` prints all. */
export const shownMax = 200;

const matchDescriptions: Record<LineMatch, string> = {
  named: 'names its deposit by our id',
  referenced: "has its client's ref_id",
  amount: 'only the amount matches',
  several: 'the match is ambiguous',
  'taken-back': 'the bank took it back, or it takes back an outgoing line',
  repeated: 'another line is for the same deposit',
  decided: 'its deposit was already decided',
  'other-amount': 'names a deposit of another amount',
  none: 'matches no deposit',
  used: 'was already used',
  'set-aside': 'was already set aside',
};

const refusalDescriptions: Record<BankLineRefusal, string> = {
  'bad-date': 'its day cannot be read, or is in the future',
  'not-booked': 'the bank has not booked it yet',
  'too-old': 'it is older than 90 days',
  'bad-amount': 'its amount cannot be read',
  'no-direction': 'does not say whether it is incoming or outgoing',
  'bad-cells': 'it has more or fewer cells than headings',
  'bad-quote': 'a quote is not closed, or is inside a cell',
  'not-idr': 'it is not in rupiah (IDR)',
  reversal: 'the bank takes back an outgoing payment',
  'bad-balance': 'the balances say that the money went in the opposite direction',
  'maybe-text': 'it may be a part of the text above; let the bank export CSV or CAMT.053',
};

function daysOf(days: StatementPlan['days']): string | null {
  if (!days) {
    return null;
  }
  const range = `${days.first} to ${days.last}`;
  return days.isOrderTold ? range : `${range}: read day first, but every day could be a month. CHECK THIS`;
}

export interface ShownPlan extends Omit<StatementPlan, 'taken' | 'corrections'> {
  corrections: ListedCorrection[];
}

/** Formats a preview: what each line matches, and the lines that credit nothing. */
export function formatStatementPreview(plan: ShownPlan): string {
  const { lines, days, outgoing, outgoingLines, others, otherLines, refused, corrections, fingerprint } =
    plan;
  const found = (match: LineMatch) => lines.filter((each) => each.match === match);
  const listed = lines.filter(({ match }) => match !== 'used' && match !== 'set-aside');
  return [
    facts([
      ['incoming', String(lines.length)],
      ['days', daysOf(days)],
      ...(Object.keys(matchDescriptions) as LineMatch[]).map((match): [string, string | null] => [
        matchDescriptions[match],
        found(match).length === 0 ? null : String(found(match).length),
      ]),
      ['outgoing', String(outgoing)],
      ['without an amount', String(others)],
      ['not read', refused.length === 0 ? null : String(refused.length)],
      ['hash', fingerprint],
    ]),
    ...section('Lines', listed.length, () =>
      table(
        ['line', 'day', 'amount', 'match', 'deposit', 'text'],
        listed.slice(0, shownMax).map(rowOf),
        [0, 2],
      ),
    ),
    ...section('Corrections by the bank', corrections.length, () =>
      table(
        ['line', 'day', 'amount', 'takes back', 'text'],
        corrections.slice(0, shownMax).map(rowOfCorrection),
        [0, 2],
      ),
    ),
    ...section('Not read', refused.length, () => refused.slice(0, shownMax).map(describeRefusal).join('\n')),
    ...section('Outgoing', outgoing, () =>
      table(
        ['line', 'day', 'amount', 'text'],
        outgoingLines
          .slice(0, shownMax)
          .map(({ line, day, amount, description }) => [
            String(line),
            day ?? '',
            rupiah(amount),
            description,
          ]),
        [0, 2],
      ),
    ),
    ...section('Without an amount', others, () =>
      table(
        ['line', 'text'],
        otherLines.slice(0, shownMax).map(({ line, text }) => [String(line), text]),
        [0],
      ),
    ),
  ].join('\n');
}

/** Formats a list with its heading. A list that is cut says so. */
function section(heading: string, count: number, format: () => string): string[] {
  return count === 0
    ? []
    : [
        formatHeading(heading),
        format(),
        ...(count > shownMax ? [`Only ${shownMax} of ${count} are shown; --json prints all.`] : []),
      ];
}

function describeRefusal({ line, why, column }: StatementPlan['refused'][number]): string {
  return `line ${line}${column === undefined ? '' : `, ${column}`}: ${refusalDescriptions[why]}`;
}

function rowOfCorrection({ line, day, amount, payment, description }: ListedCorrection): string[] {
  return [
    line === null ? '' : String(line),
    day ?? '',
    rupiah(amount),
    describePayment(payment),
    description,
  ];
}

function describePayment(payment: ListedCorrection['payment']): string {
  if (!payment) {
    return 'a payment of another statement';
  }
  const where = payment.line === null ? `a payment of ${payment.day}` : `line ${payment.line}`;
  return payment.depositId === null ? where : `${where}, CREDITED to deposit ${payment.depositId}`;
}

function rowOf({ line, day, amount, match, sameBefore, deposits, description }: PlannedLine): string[] {
  const could = deposits.map(({ _id, refId }) => `${_id} (${refId})`).join(', ');
  const what = sameBefore
    ? `${matchDescriptions[match]}; a similar line was already decided`
    : matchDescriptions[match];
  return [String(line), day, rupiah(amount), what, could, description];
}
