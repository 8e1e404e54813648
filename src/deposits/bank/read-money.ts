import {
  areContradictory,
  isBlankAmount,
  isMarkedDirection,
  parseAmount,
  parseDirection,
  type BankAmount,
  type Direction,
} from './bank-cells.js';
import type { BankColumns } from './bank-columns.js';
import { hasForeignCurrency } from './bank-currency.js';

/** Returns the trimmed cell of a column, or an empty text. */
type Cell = (place: number) => string;

export interface Money {
  /** Amount in rupiah, above zero. */
  amount: number;
  direction: Direction;
  /** True for a negative credit: the bank takes back an incoming payment. */
  isReversal?: boolean;
}

/** The value in the column at `place` cannot be read. */
export interface MoneyRefusal {
  why: 'bad-amount' | 'no-direction' | 'not-idr';
  place: number;
}

/** Reads amount and direction of a line. Returns `none` for a line without an amount. */
export function readMoney(cell: Cell, columns: BankColumns): Money | MoneyRefusal | 'none' {
  const money = columns.credit >= 0 ? readTwoColumns(cell, columns) : readOneColumn(cell, columns);
  if (money === 'none' || 'why' in money) {
    return money;
  }
  const against = columns.kinds.find(
    (place) =>
      isMarkedDirection(cell(place)) || areContradictory(parseDirection(cell(place)), money.direction),
  );
  return against === undefined ? money : { why: 'no-direction', place: against };
}

function readTwoColumns(cell: Cell, columns: BankColumns): Money | MoneyRefusal | 'none' {
  const { credit, debit } = columns;
  const came = readAmount(cell, credit, columns);
  const went = readAmount(cell, debit, columns);
  if ('why' in came) {
    return came;
  }
  if ('why' in went) {
    return went;
  }
  if (came.amount > 0 && went.amount > 0) {
    return { why: 'bad-amount', place: credit };
  }
  if (went.amount > 0 && went.direction === 'in') {
    return { why: 'no-direction', place: debit };
  }
  // A negative credit is a payment that the bank reversed, so it is not incoming.
  const isIn = came.amount > 0 && came.direction !== 'out';
  const amount = came.amount + went.amount;
  const isReversal = came.amount > 0 && !isIn;
  return amount === 0 ? 'none' : { amount, direction: isIn ? 'in' : 'out', isReversal };
}

function readOneColumn(cell: Cell, columns: BankColumns): Money | MoneyRefusal | 'none' {
  const read = readAmount(cell, columns.amount, columns);
  if ('why' in read) {
    return read;
  }
  if (read.amount === 0) {
    return 'none';
  }
  const stated = columns.kinds.map((place) => parseDirection(cell(place))).find((each) => each !== null);
  const direction = areContradictory(stated ?? null, read.direction) ? null : (stated ?? read.direction);
  return direction === null
    ? { why: 'no-direction', place: columns.kinds[0] ?? columns.amount }
    : { amount: read.amount, direction };
}

function readAmount(cell: Cell, place: number, { layout }: BankColumns): BankAmount | MoneyRefusal {
  const text = cell(place);
  if (isBlankAmount(text)) {
    return { amount: 0, direction: null };
  }
  const why = hasForeignCurrency(text) ? 'not-idr' : 'bad-amount';
  return parseAmount(text, layout?.decimalMark ?? null) ?? { why, place };
}
