/**
 * Yardstick for reports: one projected cursor over the index, written row by row to a file, without
 * summary or pages.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify/sync';
import { MongoClient } from 'mongodb';
import { serveCalls } from '../support/calls.js';

export interface ReportWork {
  accountId: string;
}

export interface ReportResult {
  rows: number;
  seconds: number;
}

const fields = [
  'refId',
  '_id',
  'customerNumber',
  'productCode',
  'productName',
  'price',
  'status',
  'serialNumber',
  'createdAt',
];
const rowBatchSize = 1_000;

export async function runBareReport(): Promise<void> {
  const client = await new MongoClient(process.env['MONGODB_URI'] ?? '').connect();
  serveCalls(async ({ accountId }: ReportWork): Promise<ReportResult> => {
    const startedMs = performance.now();
    const projection = Object.fromEntries(fields.map((field) => [field, 1]));
    const cursor = client
      .db()
      .collection('transactions')
      .find({ accountId }, { projection, batchSize: rowBatchSize })
      .sort({ createdAt: -1, _id: -1 });
    let rows = 0;
    async function* texts(): AsyncGenerator<string> {
      for (let batch = [await cursor.next()]; batch[0]; batch = [await cursor.next()]) {
        const page = [...batch, ...cursor.readBufferedDocuments()];
        rows += page.length;
        yield stringify(page, { columns: fields, cast: { date: (value) => value.toISOString() } });
      }
    }
    await pipeline(texts, fs.createWriteStream(path.join(os.tmpdir(), 'bare-report.csv')));
    return { rows, seconds: (performance.now() - startedMs) / 1_000 };
  });
}
