import { limits } from '../../../config/limits.js';
import { UnreadableSheetError } from '../../workbook/csv-lines.js';
import { getAttribute, readTags, type Tag } from '../../workbook/xml.js';
import { parseDay } from './bank-cells.js';
import {
  buildForeignError,
  buildPayment,
  buildUnreadableError,
  refuseLine,
  type ReadLine,
} from './statement-line.js';

/** Values of one entry or balance, by the element that holds them. */
type Values = Map<string, string>;

interface Reading {
  /** Names of the open elements. */
  path: string[];
  /** The open entry or balance. */
  open: Values | null;
  texts: string[];
  entries: number;
  /** Sum of the booked entries, in sen. Null if one is in another currency. */
  sum: bigint | null;
  balances: Map<string, bigint>;
  today: string;
}

/** Elements of an entry whose text may name a deposit. */
const textElements = new Set([
  'Ustrd',
  'AddtlNtryInf',
  'AddtlTxInf',
  'EndToEndId',
  'NtryRef',
  'AcctSvcrRef',
  'Nm',
  'Ref',
]);
/** Elements with one value, by their path below the entry or balance. */
const valueElements = new Set([
  'Amt',
  'CdtDbtInd',
  'RvslInd',
  'Sts',
  'Sts/Cd',
  'BookgDt/Dt',
  'BookgDt/DtTm',
  'Tp/CdOrPrtry/Cd',
]);

/**
 * Yields the entries of a bank-to-customer statement (ISO 20022 camt.053). The line of an entry is its
 * number. Only booked entries are payments.
 * @throws ValidationError if the file is malformed, contradicts its balances, or is not in rupiah.
 */
export async function* readCamt053(xml: string, today: string): AsyncGenerator<ReadLine> {
  const reading: Reading = {
    path: [],
    open: null,
    texts: [],
    entries: 0,
    sum: 0n,
    balances: new Map(),
    today,
  };
  try {
    for await (const tags of readTags(xml)) {
      for (const tag of tags) {
        const line = readTag(tag, reading);
        if (line) {
          yield line;
        }
      }
    }
  } catch (error) {
    throw error instanceof UnreadableSheetError ? buildUnreadableError('its XML cannot be read') : error;
  }
  if (reading.entries === 0) {
    throw buildUnreadableError('it has no entries (Ntry)');
  }
}

function readTag(tag: Tag, reading: Reading): ReadLine | null {
  const { name, isEnd, isEmpty } = tag;
  if (!isEnd) {
    beginElement(tag, reading);
  }
  return isEnd || isEmpty ? endElement(name, reading) : null;
}

function beginElement({ name, of, text }: Tag, reading: Reading): void {
  const { path } = reading;
  path.push(name);
  if (path.at(-2) === 'Stmt' && (name === 'Ntry' || name === 'Bal')) {
    reading.open = new Map();
    reading.texts = [];
  }
  if (path.slice(-3).join('/') === 'Stmt/Acct/Ccy' && text.trim() !== 'IDR') {
    throw buildForeignError('its account', text);
  }
  const { open } = reading;
  if (!open) {
    return;
  }
  const below = path.slice(path.lastIndexOf('Stmt') + 2).join('/');
  if (valueElements.has(below) && text.trim() !== '') {
    if (open.has(below)) {
      throw buildUnreadableError(`entry ${reading.entries + 1} has two values of ${below}`);
    }
    open.set(below, text.trim());
  }
  if (below === 'Amt') {
    open.set('Ccy', getAttribute(of, 'Ccy') ?? '');
  }
  if (textElements.has(name)) {
    reading.texts.push(text);
  }
}

function endElement(name: string, reading: Reading): ReadLine | null {
  reading.path.pop();
  const { open } = reading;
  if (name === 'Stmt') {
    requireBalance(reading);
  }
  if (!open || reading.path.at(-1) !== 'Stmt') {
    return null;
  }
  reading.open = null;
  if (name === 'Bal') {
    addBalance(open, reading);
    return null;
  }
  reading.entries += 1;
  if (reading.entries > limits.bankStatementLinesMax) {
    throw buildUnreadableError(`it has more than ${limits.bankStatementLinesMax} entries`);
  }
  return readEntry(open, reading);
}

function addBalance(values: Values, reading: Reading): void {
  const sen = readSen(values);
  if (values.get('Ccy') !== 'IDR') {
    throw buildForeignError('its balance', values.get('Ccy') ?? '');
  }
  if (sen !== null) {
    reading.balances.set(values.get('Tp/CdOrPrtry/Cd') ?? '', sen);
  }
}

/** Reads the signed amount in sen. Returns null if it has no amount or direction. */
function readSen(values: Values): bigint | null {
  const [, whole, sen = ''] = /^(\d{1,15})(?:\.(\d{1,5}))?$/.exec(values.get('Amt') ?? '') ?? [];
  const direction = values.get('CdtDbtInd');
  if (whole === undefined || !/^\d{0,2}0*$/.test(sen) || (direction !== 'CRDT' && direction !== 'DBIT')) {
    return null;
  }
  const amount = BigInt(whole + sen.slice(0, 2).padEnd(2, '0'));
  return direction === 'CRDT' ? amount : -amount;
}

function readEntry(values: Values, reading: Reading): ReadLine {
  const { entries: line, today } = reading;
  const sen = readSen(values);
  const isReversal = !/^(?:false|0)$/.test(values.get('RvslInd') ?? 'false');
  if ((values.get('Sts/Cd') ?? values.get('Sts')) !== 'BOOK') {
    return refuseLine(line, 'not-booked', 'Sts');
  }
  if (values.get('Ccy') !== 'IDR') {
    reading.sum = null;
    return refuseLine(line, 'not-idr', 'Ccy');
  }
  if (sen === null) {
    // Without this amount the balances prove nothing about the other entries.
    throw buildUnreadableError(`entry ${line}: its amount or direction cannot be read`);
  }
  reading.sum = reading.sum === null ? null : reading.sum + sen;
  const amount = Number((sen < 0n ? -sen : sen) / 100n);
  if (sen % 100n !== 0n || amount === 0 || !Number.isSafeInteger(amount)) {
    return refuseLine(line, 'bad-amount', 'Amt');
  }
  // The indicator is about the entry itself: an incoming reversal takes back an outgoing payment.
  if (sen > 0n && isReversal) {
    return refuseLine(line, 'reversal', 'RvslInd');
  }
  // A date with a zone is that date: only a time can move it to another day.
  const booked = values.get('BookgDt/Dt')?.replace(/(\d)(?:Z|[+-]\d{2}:\d{2})$/, '$1');
  const day = parseDay(booked ?? values.get('BookgDt/DtTm') ?? '', today);
  const text = [...new Set(reading.texts.map((each) => each.trim()))]
    .filter((each) => each !== 'NOTPROVIDED')
    .join(' ');
  const direction = sen > 0n ? 'in' : 'out';
  return buildPayment({ line, day, amount, direction, text, dayColumn: 'BookgDt', isReversal }, today);
}

function requireBalance(reading: Reading): void {
  const { balances, sum } = reading;
  const opening = balances.get('OPBD') ?? balances.get('PRCD');
  const closing = balances.get('CLBD');
  if (opening === undefined || closing === undefined) {
    throw buildUnreadableError('it has no opening or closing balance (OPBD, CLBD)');
  }
  if (sum !== null && opening + sum !== closing) {
    throw buildUnreadableError('its entries do not lead to its closing balance');
  }
  reading.balances = new Map();
  reading.sum = 0n;
}
