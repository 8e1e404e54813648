import type { ReadLine } from './statement-line.js';

/** The verdict of the balances on the lines of a statement. */
export interface BalanceVerdict {
  /** True if the balances contradict the direction of every line: the columns are swapped. */
  isSwapped: boolean;
  /** Lines whose direction the balances contradict. */
  opposite: ReadonlySet<number>;
  /** Lines to whose amount the balances do not lead. Lines between may be missing. */
  unproven: ReadonlySet<number>;
}

export interface BalanceCheck {
  /** Adds the next line of the file. */
  add: (read: ReadLine) => void;
  judge: () => BalanceVerdict;
}

/** The balances count only if at most one in this number of links is neither proven nor contradicted. */
const linksPerMiss = 10;

/** Amounts and balances of neighbouring lines, in sen. A line without a balance has NaN. */
interface Rows {
  lines: number[];
  signed: number[];
  balances: number[];
}

/** Links between neighbouring lines, read in one order. */
interface Links {
  fits: number;
  opposite: number[];
  misses: number[];
}

/**
 * Checks that each amount leads from one balance to the next, in files with the oldest line first or
 * last. Banks that list lines in another order, or with gaps, prove nothing: then no line is judged.
 */
export function startBalanceCheck(): BalanceCheck {
  const rows: Rows = { lines: [], signed: [], balances: [] };
  let [firstDay, lastDay] = ['', ''];
  const push = (line: number, signed: number, balance: number) => {
    rows.lines.push(line);
    rows.signed.push(signed);
    rows.balances.push(balance);
  };
  return {
    add(read) {
      if (read.kind === 'incoming' || read.kind === 'outgoing') {
        firstDay ||= read.day ?? '';
        lastDay = read.day ?? lastDay;
        const sen = read.amount * 100 * (read.kind === 'incoming' ? 1 : -1);
        push(read.line, sen, read.balance ?? Number.NaN);
      } else if (read.kind === 'refused' || 'isHeading' in read) {
        push(read.line, 0, Number.NaN);
      }
    },
    judge: () => judgeRows(rows, lastDay.localeCompare(firstDay)),
  };
}

/** @param order Above zero if the last line is of a later day than the first. */
function judgeRows(rows: Rows, order: number): BalanceVerdict {
  const [forward, backward] = [linkRows(rows, 1), linkRows(rows, -1)];
  const explained = ({ fits, opposite }: Links) => fits + opposite.length;
  const isForward = explained(forward) - explained(backward) || order || forward.fits - backward.fits || 1;
  const { fits, opposite, misses } = isForward > 0 ? forward : backward;
  const isProof = misses.length * linksPerMiss <= fits + opposite.length + misses.length;
  return {
    isSwapped: isProof && fits === 0 && opposite.length > 0,
    opposite: new Set(isProof ? opposite : []),
    unproven: new Set(isProof ? misses : []),
  };
}

/** @param step 1 if the oldest line is the first, -1 if it is the last. */
function linkRows({ lines, signed, balances }: Rows, step: 1 | -1): Links {
  const links: Links = { fits: 0, opposite: [], misses: [] };
  for (let place = 1; place < lines.length; place += 1) {
    const [later, earlier] = step === 1 ? [place, place - 1] : [place - 1, place];
    const moved = (balances[later] ?? Number.NaN) - (balances[earlier] ?? Number.NaN);
    const [amount = 0, line = 0] = [signed[later], lines[later]];
    if (Number.isNaN(moved)) {
      continue;
    }
    if (moved === amount) {
      links.fits += 1;
    } else {
      (moved === -amount ? links.opposite : links.misses).push(line);
    }
  }
  return links;
}

const balancePattern =
  /^(\()?\s*([+-])?\s*(?:Rp\.?|IDR)?\s*([+-])?\s*(\d[\d.,]*?)(?:[.,](\d{1,2}))?\s*(\))?\s*(CR|DB|DR|C|D|K|[+-])?$/i;

/** Parses a balance into sen. Returns NaN if it cannot be read: then it proves nothing. */
export function parseBalance(text: string): number {
  const [whole, open, sign, inner, figure = '', sen = '', closed, tail = ''] =
    balancePattern.exec(text.replace(/^['\s]+/, '').trim()) ?? [];
  if (whole === undefined || (open === undefined) !== (closed === undefined)) {
    return Number.NaN;
  }
  const isBelow = open !== undefined || sign === '-' || inner === '-' || /^(?:DB|DR|D|-)$/i.test(tail);
  const value = Number(figure.replaceAll(/[.,]/g, '') + sen.padEnd(2, '0'));
  return Number.isSafeInteger(value) ? (isBelow ? -value : value) : Number.NaN;
}
