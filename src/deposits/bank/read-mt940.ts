import { limits } from '../../../config/limits.js';
import { iterateInSlices } from '../../shared/collections.js';
import { parseDay } from './bank-cells.js';
import { findCancelling } from './find-cancelling.js';
import {
  buildForeignError,
  buildPayment,
  buildUnreadableError,
  refuseLine,
  type ReadLine,
} from './statement-line.js';

interface Field {
  tag: string;
  value: string;
  line: number;
  /** True if a full line of a text precedes it: it may be a part of that text. */
  isDoubtful: boolean;
}

/** The statement whose lines are being read. Amounts are in sen. */
interface Balance {
  /** Balance after the lines so far. */
  sen: bigint;
  isOpen: boolean;
}

/**
 * Yields the entries of a customer statement message (SWIFT MT940). The amounts of each statement must
 * lead from its opening to its closing balance.
 * @throws ValidationError if the message is incomplete, contradicts its balances, or is not in rupiah.
 */
export async function* readMt940(text: string, today: string): AsyncGenerator<ReadLine> {
  const balance: Balance = { sen: 0n, isOpen: false };
  let entry: Field | null = null;
  let details: string[] = [];
  let count = 0;
  const unproven = findUnproven(text);
  for await (const field of iterateInSlices(splitFields(text))) {
    if (field.tag === '86' && entry) {
      details.push(joinLines(field.value));
      continue;
    }
    if (entry) {
      const read = readEntry(entry, details, { balance, today });
      yield unproven.has(entry.line) ? refuseLine(entry.line, 'maybe-text', ':61:') : read;
      [entry, details] = [null, []];
    }
    if (field.tag === '61') {
      requireOpen(balance, field);
      entry = field;
      count += 1;
      if (count > limits.bankStatementLinesMax) {
        throw buildUnreadableError(`it has more than ${limits.bankStatementLinesMax} entries`);
      }
    } else if (/^6[02][FM]$/.test(field.tag)) {
      applyBalance(balance, field);
    }
  }
  if (entry || balance.isOpen || count === 0) {
    throw buildUnreadableError(
      count === 0 ? 'it has no entries (:61:)' : 'it ends before the closing balance (:62F:)',
    );
  }
}

/** Length at which banks wrap the lines of :86:, unless one is longer. A word continues on the next line. */
const lineLength = 65;
const fieldPattern = /^(?:\{[^:]{0,3}:[^\n]{0,200}\{4:)?:(\d{2}[A-Z]?):(.*)$/;

/** Yields the fields of a message. Each begins with its tag, and continues over the next lines. */
function* splitFields(text: string): Generator<Field> {
  let field: Field | null = null;
  let [line, mayContinue] = [0, false];
  const lines = text.split(/\r\n?|\n/);
  const wrapped = findWrapLength(lines);
  for (const each of lines) {
    line += 1;
    const [, tag, value = ''] = fieldPattern.exec(each) ?? [];
    if (tag !== undefined) {
      if (field) {
        yield field;
      }
      field = { tag, value, line, isDoubtful: mayContinue };
    } else if (/^(?:-\}?.{0,200}|\s*|\{.*)$/.test(each)) {
      if (field) {
        yield field;
      }
      field = null;
    } else if (field) {
      field.value += `\n${each}`;
    } else {
      throw buildUnreadableError(`line ${line}: it belongs to no field`);
    }
    mayContinue = each.length >= wrapped && (mayContinue || field?.tag === '86');
  }
  if (field) {
    yield field;
  }
}

/** Returns the length of a line after which a text may continue. */
function findWrapLength(lines: readonly string[]): number {
  let [longest, isText] = [lineLength, false];
  for (const each of lines) {
    const [, tag, value = each] = fieldPattern.exec(each) ?? [];
    isText = tag === undefined ? isText : tag === '86';
    longest = isText ? Math.max(longest, value.length) : longest;
  }
  return longest;
}

/**
 * Finds entries that a payer may have written in a note that the bank wrapped. Forged entries leave the
 * balance as it is, so entries that cannot cancel each other out are real.
 * @returns The lines of the entries that the balances do not prove.
 * @throws ValidationError if an opening balance may be such a note.
 */
function findUnproven(text: string): Set<number> {
  const unproven = new Set<number>();
  let doubtful: { line: number; sen: bigint }[] = [];
  const judge = () => {
    if (findCancelling(doubtful.map(({ sen }) => sen))) {
      doubtful.forEach(({ line }) => unproven.add(line));
    }
    doubtful = [];
  };
  for (const { tag, value, line, isDoubtful } of splitFields(text)) {
    if (/^60/.test(tag)) {
      judge();
      if (isDoubtful) {
        throw buildUnreadableError(
          `line ${line}: the text above may continue here, so it is not certain that this is a balance`,
        );
      }
    } else if (tag === '61' && isDoubtful) {
      const [, , , mark, , figure = ''] = entryPattern.exec(value) ?? [];
      const sen = toSen(figure);
      doubtful.push({ line, sen: mark === 'C' || mark === 'RD' ? sen : -sen });
    }
  }
  judge();
  return unproven;
}

function requireOpen({ isOpen }: Balance, { line }: Field): void {
  if (!isOpen) {
    throw buildUnreadableError(`line ${line}: no opening balance (:60F:) precedes it`);
  }
}

function applyBalance(balance: Balance, { tag, value, line }: Field): void {
  const [, mark, , currency, figure = ''] =
    /^([CD])(\d{6})([A-Z]{3})(\d{1,15}[,.]\d{0,2})\s*$/.exec(value) ?? [];
  if (mark === undefined || currency === undefined) {
    throw buildUnreadableError(`line ${line}: its balance cannot be read`);
  }
  if (currency !== 'IDR') {
    throw buildForeignError(`line ${line}`, currency);
  }
  const sen = toSen(figure) * (mark === 'C' ? 1n : -1n);
  const isOpening = tag.startsWith('60');
  if (isOpening === balance.isOpen) {
    throw buildUnreadableError(`line ${line}: its balance is out of order`);
  }
  if (!isOpening && balance.sen !== sen) {
    throw buildUnreadableError(`line ${line}: its entries do not lead to its closing balance`);
  }
  balance.sen = sen;
  balance.isOpen = isOpening;
}

const entryPattern =
  /^(\d{6})(\d{4}| {4})?(R?[CD])([A-Z])?(\d{1,15}[,.]\d{0,2})([NFS][A-Z0-9]{3})([^\n]{0,100})(?:\n([^]{0,200}))?$/;

function readEntry(
  { value, line }: Field,
  details: readonly string[],
  { balance, today }: { balance: Balance; today: string },
): ReadLine {
  const found = entryPattern.exec(value);
  if (!found) {
    // Without this amount the balances prove nothing about the other entries.
    throw buildUnreadableError(`line ${line}: its entry (:61:) cannot be read`);
  }
  const [, valueDate = '', bookingDate, mark = '', , figure = '', , references = '', more = ''] = found;
  const sen = toSen(figure);
  const isIn = mark === 'C' || mark === 'RD';
  balance.sen += isIn ? sen : -sen;
  if (mark === 'RD') {
    return refuseLine(line, 'reversal');
  }
  const amount = Number(sen / 100n);
  if (sen % 100n !== 0n || amount === 0 || !Number.isSafeInteger(amount)) {
    return refuseLine(line, 'bad-amount', ':61:');
  }
  const text = [references.replace(/^NONREF/, ''), more, ...details].join(' ');
  const day = findBookingDay(valueDate, bookingDate, today);
  const direction = isIn ? 'in' : 'out';
  const isReversal = mark === 'RC';
  return buildPayment({ line, day, amount, direction, text, dayColumn: ':61:', isReversal }, today);
}

/** Returns the booking day, which has no year, next to the value day. */
function findBookingDay(valueDate: string, bookingDate: string | undefined, today: string): string | null {
  const valueDay = parseDay(`20${valueDate}`, today);
  if (bookingDate === undefined || bookingDate.trim() === '' || valueDay === null) {
    return valueDay;
  }
  const year = Number(valueDay.slice(0, 4));
  const days = [year - 1, year, year + 1].flatMap((each) => parseDay(`${each}${bookingDate}`, today) ?? []);
  const distance = (day: string) => Math.abs(Date.parse(day) - Date.parse(valueDay));
  return days.sort((a, b) => distance(a) - distance(b))[0] ?? null;
}

function toSen(figure: string): bigint {
  const [whole = '', sen = ''] = figure.split(/[,.]/);
  return BigInt(whole + sen.padEnd(2, '0'));
}

/** Joins the lines of :86: and removes the marks of its subfields, such as ?20. */
function joinLines(value: string): string {
  return value
    .split('\n')
    .map((each) => (each.length === lineLength ? each : `${each} `))
    .join('')
    .replaceAll(/\?\d{2}/g, ' ');
}
