import { lookUp } from '../shared/collections.js';
import type { Language } from '../shared/messages.js';
import { setImmediate as breathe } from 'node:timers/promises';
import { PDFDocument, StandardFonts, type PDFFont } from '@cantoo/pdf-lib';
import { DateTime } from 'luxon';
import { env } from '../../config/env.js';
import { limits } from '../../config/limits.js';
import { ValidationError } from '../shared/errors.js';
import { characterWidth, toLatin1, wrapText } from '../shared/printable.js';
import { asWritten } from '../shared/say.js';
import { readEntryPages, type Statement, type StatementEntry } from './statement.js';

interface Words {
  statement: string;
  period: string;
  opening: string;
  closing: string;
  incoming: string;
  outgoing: string;
  movements: string;
  none: string;
  page: string;
  heads: { at: string; kind: string; reference: string; amount: string; balance: string };
}

/** Labels of a PDF statement, by language. */
export const statementWords: Record<Language, Words> = {
  en: {
    statement: 'Statement',
    period: 'Period',
    opening: 'Opening balance',
    closing: 'Closing balance',
    incoming: 'Money in',
    outgoing: 'Money out',
    movements: 'Movements',
    page: 'Page',
    none: 'No movements in this period.',
    heads: { at: 'Time', kind: 'Kind', reference: 'Reference', amount: 'Amount', balance: 'Balance' },
  },
  id: {
    statement: 'Mutasi',
    period: 'Masa',
    opening: 'Saldo awal',
    closing: 'Saldo akhir',
    incoming: 'Uang masuk',
    outgoing: 'Uang keluar',
    movements: 'Pergerakan',
    page: 'Halaman',
    none: 'Tidak ada mutasi pada periode ini.',
    heads: { at: 'Waktu', kind: 'Jenis', reference: 'Referensi', amount: 'Jumlah', balance: 'Saldo' },
  },
};

const kindsInIndonesian: Record<string, string> = {
  purchase: 'pembelian',
  refund: 'dana kembali',
  reversal: 'pembatalan',
  adjustment: 'koreksi',
  'seller-posting': 'hasil penjualan',
  'settlement-request': 'pencairan diminta',
  'settlement-completed': 'pencairan selesai',
  'settlement-failed': 'pencairan gagal',
};

/** Translates a kind of movement. An unknown kind is returned unchanged. */
export function translateKind(kind: string, language: Language): string {
  return language === 'id' ? (lookUp(kindsInIndonesian, kind) ?? kind) : kind;
}

/** Page size of A4 in points. */
const [width, height] = [595.28, 841.89];
const margin = 36;
const size = 7.5;
const lineHeight = size * 1.35;
const columns = Math.floor((width - 2 * margin) / (size * characterWidth));
const linesPerPage = Math.floor((height - 2 * margin) / lineHeight) - 4;
/** Column widths in characters. The reference column takes the rest of the line. */
const widths = { at: 19, kind: 20, amount: 20, balance: 20 };
const referenceWidth = columns - widths.at - widths.kind - widths.amount - widths.balance - 4;

interface PdfOptions {
  username: string;
  balances: { opening: number; closing: number };
  language: Language;
  /** Creation date of the PDF. */
  at: Date;
}

/**
 * Draws a statement on A4 pages, with times in the business time zone. Yields to other work after
 * each page.
 * @throws ValidationError if the statement has more than `limits.statementPdfEntriesMax` movements.
 */
export async function drawStatementPdf(statement: Statement, options: PdfOptions): Promise<Buffer> {
  const count = statement.lastSeq - statement.firstSeq + 1;
  if (count > limits.statementPdfEntriesMax) {
    const message = `A PDF has at most ${limits.statementPdfEntriesMax} movements, but this period has ${count}. Choose a shorter period, or CSV.`;
    throw new ValidationError([{ field: 'from', message: asWritten(message) }]);
  }
  const lines: string[] = [];
  const sums = { incoming: 0, outgoing: 0 };
  for await (const page of readEntryPages(statement, statement.firstSeq - 1)) {
    for (const entry of page) {
      lines.push(...buildEntryLines(entry, options.language));
      sums[entry.amount < 0 ? 'outgoing' : 'incoming'] += Math.abs(entry.amount);
    }
  }
  return drawPages([...buildHead(statement, options, { ...sums, count }), ...lines], options);
}

function buildHead(
  { period }: Statement,
  { username, balances, language }: PdfOptions,
  { incoming, outgoing, count }: { incoming: number; outgoing: number; count: number },
): string[] {
  const words = statementWords[language];
  const facts: [string, string][] = [
    [words.period, `${formatTime(period.start)} - ${formatTime(period.end)} (${env.BUSINESS_TIMEZONE})`],
    [words.opening, formatRupiah(balances.opening)],
    [words.incoming, formatRupiah(incoming)],
    [words.outgoing, formatRupiah(outgoing)],
    [words.closing, formatRupiah(balances.closing)],
    [words.movements, String(count)],
  ];
  return [
    `${words.statement}: ${username}`,
    '',
    ...facts.map(([name, value]) => `${name.padEnd(18)}${value}`),
    '',
    ...(count === 0 ? [words.none] : []),
  ];
}

/** Builds the lines of one entry. A long reference is wrapped over several lines. */
function buildEntryLines(
  { at, kind, refId, subjectId, amount, balance }: StatementEntry,
  language: Language,
) {
  const [first = '', ...rest] = wrapText(toLatin1(refId ?? subjectId), referenceWidth);
  const indent = ' '.repeat(widths.at + widths.kind + 2);
  return [
    formatRow({
      at: formatTime(at),
      kind: translateKind(kind, language),
      reference: first,
      amount: formatRupiah(amount),
      balance: formatRupiah(balance),
    }),
    ...rest.map((part) => indent + part),
  ];
}

function formatRow(cells: Record<'at' | 'kind' | 'reference' | 'amount' | 'balance', string>): string {
  return [
    cells.at.padEnd(widths.at),
    cells.kind.padEnd(widths.kind),
    cells.reference.padEnd(referenceWidth),
    cells.amount.padStart(widths.amount),
    cells.balance.padStart(widths.balance),
  ].join(' ');
}

async function drawPages(lines: string[], { language, at }: PdfOptions): Promise<Buffer> {
  const words = statementWords[language];
  const pdf = await PDFDocument.create();
  pdf.setCreationDate(at);
  pdf.setModificationDate(at);
  const [plain, bold] = await Promise.all([
    pdf.embedFont(StandardFonts.Courier),
    pdf.embedFont(StandardFonts.CourierBold),
  ]);
  const pages = Math.ceil(lines.length / linesPerPage);
  for (let number = 1; number <= pages; number += 1) {
    const page = pdf.addPage([width, height]);
    let y = height - margin;
    const write = (text: string, font: PDFFont) => {
      y -= lineHeight;
      page.drawText(text, { x: margin, y, size, font });
    };
    write(`${words.page} ${number}/${pages}`.padStart(columns), plain);
    write(formatRow(words.heads), bold);
    for (const line of lines.slice((number - 1) * linesPerPage, number * linesPerPage)) {
      write(line, plain);
    }
    await breathe();
  }
  return Buffer.from(await pdf.save({ useObjectStreams: false }));
}

function formatTime(at: Date): string {
  return DateTime.fromJSDate(at, { zone: env.BUSINESS_TIMEZONE }).toFormat('yyyy-MM-dd HH:mm:ss');
}

/** Uses an ASCII minus sign, which Courier has. */
function formatRupiah(amount: number): string {
  return `${amount < 0 ? '-' : ''}Rp ${Math.abs(amount).toLocaleString('id-ID')}`;
}
