import { Readable } from 'node:stream';
import type { Response } from 'express';
import { sendFile } from '../api/http/send-response.js';
import { allOfKind, type AuditSubject } from '../audit/audit.model.js';
import { recordAudit, type ChangedBy, type NewAuditEntry } from '../audit/record-audit.js';
import { csvText, type CsvFormat } from '../shared/csv-text.js';
import { logger } from '../shared/logger.js';

/** A list that is read by pages. `After` is where a page begins; left out: at the newest. */
export interface CsvList<After> {
  filename: string;
  columns: string[];
  format?: CsvFormat;
  /** Who takes how much of what, for the audit log. */
  exported: {
    by: ChangedBy;
    action: `${string}.export`;
    kind: AuditSubject['kind'];
    /** As it was asked for. */
    filter: object;
  };
  /** At most `limit` rows, and where the next page begins; null: this is the last. */
  page: (wanted: {
    after: After | undefined;
    limit: number;
  }) => Promise<{ rows: object[]; next: After | null }>;
}

const rowsMax = 10_000;
const pageSize = 500;
const pagesMax = 100;

/**
 * What fits a filter, newest first, a page at a time as they are taken; at most 10,000, and of at most 100 pages. Its last line says if that is not all.
 * The audit log has one entry before anything is read, so that nobody takes a row unseen, and one (`.done`) with what it has come to.
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

/** How many rows have left, and whether there were more. */
interface Sent {
  rows: number;
  cut: boolean;
}

/** A reader who goes away half-way has had what left by then. */
async function* streamWithAudit<After>(list: CsvList<After>): AsyncGenerator<string> {
  const sent: Sent = { rows: 0, cut: true };
  try {
    yield* streamCsv(list, sent);
  } finally {
    await recordEnd(list, sent);
  }
}

async function* streamCsv<After>(
  { columns, format, page }: CsvList<After>,
  sent: Sent,
): AsyncGenerator<string> {
  const csv = csvText(columns, format);
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
  // Who sums up the file must not take it for all.
  const [first = ''] = columns;
  yield csv.rows([{ [first]: 'This is not all: older ones are left out. Ask for fewer days.' }]);
}

function buildAuditEntry<After>({ filename, exported }: CsvList<After>): NewAuditEntry & { after: object } {
  const { by, action, kind, filter } = exported;
  return { ...by, action, subject: { kind, id: allOfKind }, after: { file: filename, filter } };
}

/** What was begun is in the audit log already: the file is not broken off for its end. */
async function recordEnd<After>(list: CsvList<After>, sent: Sent): Promise<void> {
  const { action, after, ...entry } = buildAuditEntry(list);
  try {
    await recordAudit(null, { ...entry, action: `${action}.done`, after: { ...after, ...sent } });
  } catch (error) {
    logger.error('the end of an export is not in the audit log', { error, action });
  }
}
