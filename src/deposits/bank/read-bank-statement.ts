import { createHash } from 'node:crypto';
import { formatBusinessDay } from '../../shared/business-time.js';
import { now } from '../../shared/clock.js';
import { toPrintable } from '../../shared/printable.js';
import { UnreadableSheetError } from '../../workbook/csv-lines.js';
import { startBalanceCheck, type BalanceVerdict } from './check-balances.js';
import { openStatement } from './open-statement.js';
import { readCamt053 } from './read-camt053.js';
import { readMt940 } from './read-mt940.js';
import { buildUnreadableError, type BankLineRefusal, type ReadLine } from './statement-line.js';
import { readStatementTable, type DayOrders } from './statement-table.js';

/** An incoming payment. */
export interface IncomingLine {
  /** Line number in the file. For CAMT.053 it is the number of the entry. */
  line: number;
  /** Identifies this payment in every statement. */
  key: string;
  /** YYYY-MM-DD. */
  day: string;
  /** Amount in rupiah. */
  amount: number;
  /** The bank's text. If `isWhole` is false, the cut part may name another deposit. */
  description: string;
  isWhole: boolean;
  /** True if a word in any cell says that the line takes back another one. */
  isReversal?: true;
  /** True if the balances of the file do not lead to this amount. */
  isUnproven?: true;
}

export interface OutgoingLine {
  line: number;
  /** YYYY-MM-DD. Null if the day cannot be read. */
  day: string | null;
  /** Amount in rupiah, without a sign. */
  amount: number;
  description: string;
}

/** An outgoing line that takes back an incoming payment. It is one of the outgoing lines too. */
export interface CorrectionLine extends OutgoingLine {
  /** Identifies this line in every statement. */
  key: string;
}

export interface BankStatement {
  incoming: IncomingLine[];
  /** First and last day of the incoming lines, YYYY-MM-DD. Null if there are no incoming lines. */
  days: {
    first: string;
    last: string;
    /**
     * False if every date is ambiguous, such as 08/09/2026. Dates are then read day-first, and a
     * person must check them.
     */
    isOrderTold: boolean;
  } | null;
  /** Number of outgoing payments. */
  outgoing: number;
  outgoingLines: OutgoingLine[];
  corrections: CorrectionLine[];
  /** Number of lines without date and amount, such as balances and totals. */
  others: number;
  otherLines: { line: number; text: string }[];
  refused: { line: number; why: BankLineRefusal; column?: string }[];
}

/**
 * Reads a bank statement: a table (CSV or HTML) by its headings, MT940 or CAMT.053. It yields
 * regularly, so that a long file does not block the event loop. Lines with equal day, amount and text
 * are separate payments, numbered in order.
 * @throws ValidationError if the file is not a statement, is not in rupiah, or
 * exceeds `limits.bankStatement…Max`.
 */
export async function readBankStatement(bytes: Uint8Array): Promise<BankStatement> {
  const statement: BankStatement = {
    incoming: [],
    days: null,
    outgoing: 0,
    outgoingLines: [],
    corrections: [],
    others: 0,
    otherLines: [],
    refused: [],
  };
  const orders: DayOrders = new Set();
  const seen = new Map<string, number>();
  const balances = startBalanceCheck();
  try {
    for await (const read of readLines(bytes, orders)) {
      addLine(statement, read, seen);
      balances.add(read);
    }
  } catch (error) {
    throw error instanceof UnreadableSheetError ? buildUnreadableError(error.message) : error;
  }
  refuseIfNothingIsRead(statement);
  applyBalances(statement, balances.judge());
  const days = getDayRange(statement.incoming);
  const isOrderTold = orders.has('day-first') || !orders.has('untold');
  statement.days = days && { first: days.first, last: days.last, isOrderTold };
  return statement;
}

function readLines(bytes: Uint8Array, orders: DayOrders): AsyncIterable<ReadLine> {
  const today = formatBusinessDay(now());
  const content = openStatement(bytes);
  switch (content.kind) {
    case 'mt940':
      return readMt940(content.text, today);
    case 'camt053':
      return readCamt053(content.text, today);
    case 'table':
      return readStatementTable(content.sources, { today, orders });
  }
}

/** Returns the first and the last day of the lines, in one pass. */
export function getDayRange(
  lines: readonly Pick<IncomingLine, 'day'>[],
): { first: string; last: string } | null {
  let [first, last] = [lines[0]?.day, lines[0]?.day];
  if (first === undefined || last === undefined) {
    return null;
  }
  for (const { day } of lines) {
    first = day < first ? day : first;
    last = day > last ? day : last;
  }
  return { first, last };
}

function addLine(statement: BankStatement, read: ReadLine, seen: Map<string, number>): void {
  if (read.kind === 'refused') {
    const { line, why, column } = read;
    statement.refused.push(column === undefined ? { line, why } : { line, why, column });
    return;
  }
  if (read.kind === 'other') {
    statement.others += 1;
    statement.otherLines.push({ line: read.line, text: read.text });
    return;
  }
  const { line, day, amount, isWhole } = read;
  // Remove invisible characters from the stored text, because refusing the line would lose a
  // payment. The key still uses the original text.
  const description = toPrintable(read.description);
  if (read.kind === 'outgoing' || day === null) {
    statement.outgoing += 1;
    statement.outgoingLines.push({ line, day, amount, description });
    if (read.isReversal) {
      const key = buildKey(['correction', day, amount, read.description], seen);
      statement.corrections.push({ line, key, day, amount, description });
    }
    return;
  }
  const key = buildKey([day, amount, read.description], seen);
  statement.incoming.push({
    line,
    key,
    day,
    amount,
    description,
    isWhole,
    ...(read.isReversal && { isReversal: true }),
  });
}

/**
 * Refuses lines whose direction the balances contradict.
 * @throws ValidationError if they contradict all lines.
 */
function applyBalances(statement: BankStatement, { isSwapped, opposite, unproven }: BalanceVerdict): void {
  if (isSwapped) {
    throw buildUnreadableError(
      'its balances contradict the direction of its lines, so the columns of incoming and outgoing money may be swapped. Export it again, or remove the column of balances if it is a debt',
    );
  }
  const isKept = ({ line }: { line: number }) => !opposite.has(line);
  if (opposite.size > 0) {
    statement.incoming = statement.incoming.filter(isKept);
    statement.outgoingLines = statement.outgoingLines.filter(isKept);
    statement.corrections = statement.corrections.filter(isKept);
    statement.outgoing = statement.outgoingLines.length;
    opposite.forEach((line) => statement.refused.push({ line, why: 'bad-balance' }));
    statement.refused.sort((one, other) => one.line - other.line);
  }
  for (const line of unproven.size === 0 ? [] : statement.incoming) {
    if (unproven.has(line.line)) {
      line.isUnproven = true;
    }
  }
}

/** Two exports of one bank may differ in case and spaces. */
function buildKey(parts: readonly unknown[], seen: Map<string, number>): string {
  const same = JSON.stringify(parts.map((each) => (typeof each === 'string' ? each.toUpperCase() : each)));
  const occurrence = (seen.get(same) ?? 0) + 1;
  seen.set(same, occurrence);
  return createHash('sha256').update(`${same}${occurrence}`).digest('hex');
}

/** Refuses a file if every line has an unreadable quote, because it is not CSV. */
function refuseIfNothingIsRead({ incoming, outgoing, others, refused }: BankStatement): void {
  const [first] = refused;
  const isAllQuotes = refused.every(({ why }) => why === 'bad-quote');
  if (first && isAllQuotes && incoming.length + outgoing + others === 0) {
    throw buildUnreadableError(`line ${first.line}: a quote is not closed, or is inside a cell`);
  }
}
