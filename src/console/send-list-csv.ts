import { Readable } from 'node:stream';
import type { Response } from 'express';
import { sendFile } from '../api/http/send-response.js';
import { allOfKind, type AuditSubject } from '../audit/audit.model.js';
import { recordAudit, type ChangedBy, type NewAuditEntry } from '../audit/record-audit.js';
import { createCsvText, type CsvFormat } from '../shared/csv-text.js';
import { logger } from '../shared/logger.js';

/**
 * A list that is read page by page. `After` is the cursor. An undefined cursor starts at the newest
 * row.
 */
export interface CsvList<After> {
  filename: string;
  columns: string[];
  format?: CsvFormat;
  /** Actor, action and filter of the export, for the audit log. */
  exported: {
    by: ChangedBy;
    action: `${string}.export`;
    kind: AuditSubject['kind'];
    /** The filter as requested. */
    filter: object;
  };
  /**
   * Returns at most `limit` rows and the cursor of the next page. The cursor is null at the end.
   */
  page: (wanted: {
    after: After | undefined;
    limit: number;
  }) => Promise<{ rows: object[]; next: After | null }>;
}

const rowsMax = 10_000;
const pageSize = 500;
const pagesMax = 100;

/**
 * Streams the rows that match a filter as CSV, newest first, page by page. Stops after 10,000 rows or
 * 100 pages and says so in the last line.
 *
 * Records one audit entry before the first read and one (`.done`) with the number of rows sent.
 */
export async function sendListCsv<After>(response: Response, list: CsvList<After>): Promise<void> {
  await recordAudit(null, buildAuditEntry(list));
  await sendFile(response, {
    filename: list.filename,
    type: 'text/csv; charset=utf-8; header=present',
    size: null,
    open: () => Readable.from(streamWithAudit(list), { objectMode: false }),
  });
}

/** How much of the list was sent. `cut` is true if rows were left out. */
interface SentRows {
  rows: number;
  cut: boolean;
}

/** Records the rows sent even if the client disconnects. */
async function* streamWithAudit<After>(list: CsvList<After>): AsyncGenerator<string> {
  const sent: SentRows = { rows: 0, cut: true };
  try {
    yield* streamCsv(list, sent);
  } finally {
    await recordEnd(list, sent);
  }
}

async function* streamCsv<After>(
  { columns, format, page }: CsvList<After>,
  sent: SentRows,
): AsyncGenerator<string> {
  const csv = createCsvText(columns, format);
  yield csv.head;
  let after: After | undefined;
  for (let pages = 0; pages < pagesMax && sent.rows < rowsMax; pages += 1) {
    const left = rowsMax - sent.rows;
    const { rows, next } = await page({ after, limit: Math.min(pageSize, left) });
    const taken = rows.slice(0, left);
    sent.rows += taken.length;
    if (next === null && taken.length === rows.length) {
      sent.cut = false;
    }
    yield csv.rows(taken);
    if (!sent.cut) {
      return;
    }
    after = next ?? undefined;
  }
  // Marks a truncated file, so that nobody takes the sum of its rows for the total.
  const [first = ''] = columns;
  yield csv.rows([{ [first]: 'Incomplete: older rows are left out. Choose fewer days.' }]);
}

function buildAuditEntry<After>({ filename, exported }: CsvList<After>): NewAuditEntry & { after: object } {
  const { by, action, kind, filter } = exported;
  return { ...by, action, subject: { kind, id: allOfKind }, after: { file: filename, filter } };
}

/**
 * Records the end of an export. If that fails, the file is still sent, because the start is already
 * recorded.
 */
async function recordEnd<After>(list: CsvList<After>, sent: SentRows): Promise<void> {
  const { action, after, ...entry } = buildAuditEntry(list);
  try {
    await recordAudit(null, { ...entry, action: `${action}.done`, after: { ...after, ...sent } });
  } catch (error) {
    logger.error('could not record the end of an export in the audit log', { error, action });
  }
}
