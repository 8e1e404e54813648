import { isForeignHeading } from './bank-currency.js';
import { lookUp } from '../../shared/collections.js';
import { headingPatterns, headings, type ColumnName } from './bank-headings.js';
import { bankLayouts, type BankLayout, type ColumnRole } from './bank-layouts.js';

/** Column positions, counted from 0. The position of an absent column is -1. */
export interface BankColumns {
  date: number;
  credit: number;
  debit: number;
  amount: number;
  /** Position of the running balance. */
  balance: number;
  /** Positions of the columns with a direction. */
  kinds: number[];
  /** Positions of the description and reference columns. */
  texts: number[];
  currencies: number[];
  statuses: number[];
  /** The headings as the file writes them. */
  names: readonly string[];
  /** Number of headings without empty ones at the end. */
  width: number;
  /** True if the heading says that the month comes first. False if it says the opposite. */
  isMonthFirst: boolean | null;
  layout: BankLayout | null;
}

/** Returns the required columns that a row of headings lacks. Empty if no column is missing. */
export function findMissingColumns(columns: BankColumns): string[] {
  return [
    ...(columns.date < 0 ? ['the date (Tanggal, Tgl, Date)'] : []),
    ...(columns.texts.length === 0 ? ['the description (Keterangan, Uraian, Description)'] : []),
    ...(columns.credit < 0 && columns.amount < 0
      ? ['the amount (Kredit or Credit, or Jumlah or Amount with CR and DB)']
      : []),
  ];
}

/** Maximum number of characters of a heading that are read. Longer headings match no column. */
const headingLengthMax = 100;

/**
 * Finds a column of amounts that occurs twice, which makes the statement ambiguous.
 * @returns The headings, or undefined if the columns are unique.
 */
export function findDuplicateHeading(cells: readonly string[]): string | undefined {
  const names = cells.map(normalizeHeading);
  return (['credit', 'debit', 'amount'] as const)
    .map((of) => names.filter((name) => isColumnHeading(of, name)))
    .filter((same) => same.length > 1)
    .map((same) => [...new Set(same)].join(' or '))
    .at(0);
}

/**
 * Finds a column of amounts in another currency, such as `Credit (USD)`.
 * @returns The heading, or undefined if there is none.
 */
export function findForeignAmounts(cells: readonly string[]): string | undefined {
  return cells.map((each) => each.slice(0, headingLengthMax)).find(isForeignHeading);
}

/**
 * Finds a column of amounts in thousands or millions, such as `Kredit (000)`.
 * @returns The heading, or undefined if there is none.
 */
export function findScaledAmounts(cells: readonly string[]): string | undefined {
  return cells.find((each) => scaledPattern.test(each.slice(0, headingLengthMax)));
}

const scaledPattern = /000|\b(?:ribu(?:an)?|rb|thousands?|juta(?:an)?|jt|millions?|mio)\b/i;

export function findColumns(cells: readonly string[]): BankColumns {
  const names = cells.map(normalizeHeading);
  const width = cells.findLastIndex((each) => each.trim() !== '') + 1;
  const layout = bankLayouts.find((each) => isLayoutOf(each, names.slice(0, width))) ?? null;
  const balance = findBalance(names);
  const common = { names: cells, width, isMonthFirst: findDayOrder(cells), layout, balance };
  return layout ? placeByLayout(layout, common) : placeByHeadings(names, common);
}

type Common = Pick<BankColumns, 'names' | 'width' | 'isMonthFirst' | 'layout' | 'balance'>;

/** Two balances, such as before and after the line, cannot be told apart by their headings. */
function findBalance(names: readonly string[]): number {
  const found = names.flatMap((name, place) => (isColumnHeading('balance', name) ? [place] : []));
  return found.length === 1 ? (found[0] ?? -1) : -1;
}

function placeByHeadings(names: readonly string[], common: Common): BankColumns {
  const places = (of: ColumnName) =>
    names.flatMap((name, place) => (isColumnHeading(of, name) ? [place] : []));
  const first = (of: ColumnName) => places(of)[0] ?? -1;
  const amount = first('amount');
  const kinds = places('kind');
  // BCA leaves the heading of the CR/DB column empty. The column is next to the amount.
  const unnamed = amount >= 0 && names[amount + 1] === '' ? [amount + 1] : [];
  const texts = places('description');
  return Object.assign(common, {
    date: first('date'),
    credit: first('credit'),
    debit: first('debit'),
    amount,
    kinds: kinds.length === 0 ? unnamed : kinds,
    texts: texts.length === 0 ? [] : [...texts, ...places('reference')],
    currencies: places('currency'),
    statuses: places('status'),
  });
}

function placeByLayout({ columns }: BankLayout, common: Common): BankColumns {
  const places = (wanted: ColumnRole) =>
    columns.flatMap(([, role], place) => (role === wanted ? [place] : []));
  const first = (wanted: ColumnRole) => places(wanted)[0] ?? -1;
  return Object.assign(common, {
    date: first('date'),
    credit: first('credit'),
    debit: first('debit'),
    amount: first('amount'),
    kinds: places('kind'),
    texts: [...places('text'), ...places('reference')],
    currencies: places('currency'),
    statuses: [],
  });
}

function isLayoutOf({ columns }: BankLayout, names: readonly string[]): boolean {
  return (
    columns.length === names.length &&
    columns.every(([heading], place) => normalizeHeading(heading) === names[place])
  );
}

const monthFirstPattern = /\(\s*mm?[-/. ]dd?\b[^)]{0,10}\)/i;
const dayFirstPattern = /\(\s*dd?[-/. ]mm?\b[^)]{0,10}\)/i;

function findDayOrder(cells: readonly string[]): boolean | null {
  const named = cells.map((each) => each.slice(0, headingLengthMax));
  return named.some((each) => monthFirstPattern.test(each))
    ? true
    : named.some((each) => dayFirstPattern.test(each))
      ? false
      : null;
}

function isColumnHeading(column: ColumnName, name: string): boolean {
  const pattern = lookUp(headingPatterns, column);
  return (pattern?.test(name) ?? false) || (headings[column] as readonly string[]).includes(name);
}

/** Writes a heading in lower case, without digits and punctuation: `PostDate` is `post date`. */
function normalizeHeading(heading: string): string {
  return heading
    .slice(0, headingLengthMax)
    .replace(monthFirstPattern, '')
    .replace(dayFirstPattern, '')
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, ' ')
    .trim();
}
