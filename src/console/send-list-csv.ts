import { Readable } from 'node:stream';
import type { Response } from 'express';
import { sendFile } from '../api/send-file.js';
import { csvText, type CsvFormat } from '../shared/csv-text.js';

/** A list that is read by pages. `After` is where a page begins; left out: at the newest. */
export interface CsvList<After> {
  filename: string;
  columns: string[];
  format?: CsvFormat;
  /** At most `limit` rows, and where the next page begins; null: this is the last. */
  page: (wanted: {
    after: After | undefined;
    limit: number;
  }) => Promise<{ rows: object[]; next: After | null }>;
}

const rowsMax = 10_000;
const pageSize = 500;
const pagesMax = 100;

/** What fits a filter, newest first, a page at a time as they are taken; at most 10,000, and of at most 100 pages. Its last line says if that is not all. */
export async function sendListCsv<After>(response: Response, list: CsvList<After>): Promise<void> {
  await sendFile(response, {
    filename: list.filename,
    type: 'text/csv; charset=utf-8; header=present',
    size: null,
    open: () => Readable.from(csvOf(list), { objectMode: false }),
  });
}

async function* csvOf<After>({ columns, format, page }: CsvList<After>): AsyncGenerator<string> {
  const csv = csvText(columns, format);
  yield csv.head;
  let after: After | undefined;
  let left = rowsMax;
  for (let pages = 0; pages < pagesMax && left > 0; pages += 1) {
    const { rows, next } = await page({ after, limit: Math.min(pageSize, left) });
    yield csv.rows(rows.slice(0, left));
    left -= rows.length;
    if (next === null) {
      return;
    }
    after = next;
  }
  // Who sums up the file must not take it for all.
  const [first = ''] = columns;
  yield csv.rows([{ [first]: 'This is not all: older ones are left out. Ask for fewer days.' }]);
}
