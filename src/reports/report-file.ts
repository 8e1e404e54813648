/** The files of reports, in GridFS: every process can write and read them, whichever machine it is on. */
import { Readable, type Writable } from 'node:stream';
import mongoose from 'mongoose';
import type { Report, ReportFormat } from './report.model.js';
import { createInterface } from 'node:readline';

const bucketName = 'reportFiles';
const chunkBytes = 255 * 1024;

type Attempt = Pick<Report, '_id' | 'epoch'>;

/** A report that is generated twice writes two files; the one whose name the report keeps is read. */
export function getFileId({ _id, epoch }: Attempt): string {
  return `${_id}-${epoch}`;
}

/** Nobody can read the file before the stream has finished: only then is there more than its chunks. */
export function writeReportFile(report: Pick<Report, '_id' | 'epoch' | 'filename'>): Writable {
  const bucket = new mongoose.mongo.GridFSBucket(database(), { bucketName, chunkSizeBytes: chunkBytes });
  // GridFS takes ids of any type; the driver's types know ObjectId alone.
  return bucket.openUploadStreamWithId(getFileId(report) as never, report.filename);
}

/**
 * The bytes of a report's file, one chunk at a time as the reader takes them. The driver's own stream would hold up
 * to 16 MB of chunks for every reader, and leave its cursor open in the database when the reader goes away.
 */
export function readReportFile(report: Attempt): Readable {
  return Readable.from(readChunks(getFileId(report)), { objectMode: false });
}

async function* readChunks(fileId: string): AsyncGenerator<Buffer> {
  const file = await files().findOne({ _id: fileId });
  if (!file) {
    throw new Error(`There is no report file ${fileId}`);
  }
  for (let n = 0, left = file.length; left > 0; n += 1) {
    const chunk = await chunks().findOne(
      { files_id: fileId, n },
      { projection: { _id: 0, data: 1 }, promoteBuffers: true },
    );
    if (!chunk) {
      throw new Error(`Report file ${fileId} lacks its chunk ${n}`);
    }
    yield chunk.data;
    left -= chunk.data.length;
  }
}

/** Removes the file of this attempt, or what a worker that died has left of it. */
export async function deleteReportFile(report: Attempt): Promise<void> {
  await deleteFiles([getFileId(report)]);
}

/** Removes what attempts before this one have left. */
export async function deleteEarlierFiles({ _id, epoch }: Attempt): Promise<void> {
  await deleteFiles(Array.from({ length: epoch - 1 }, (_, index) => getFileId({ _id, epoch: index + 1 })));
}

async function deleteFiles(ids: string[]): Promise<void> {
  await files().deleteMany({ _id: { $in: ids } });
  await chunks().deleteMany({ files_id: { $in: ids } });
}

function files() {
  return database().collection<{ _id: string; length: number }>(`${bucketName}.files`);
}

function chunks() {
  return database().collection<{ files_id: string; n: number; data: Buffer }>(`${bucketName}.chunks`);
}

function database() {
  const { db } = mongoose.connection;
  if (!db) {
    throw new Error('MongoDB is not connected');
  }
  return db;
}

/** The first `max` items of a JSON report, read line by line from its file (see generate-report.ts). */
export async function readReportItems(report: Report, max: number): Promise<unknown[]> {
  const items: unknown[] = [];
  const file = readReportFile(report);
  try {
    for await (const line of createInterface({ input: file, crlfDelay: Infinity })) {
      if (line.startsWith('{')) {
        items.push(JSON.parse(line.replace(/,$/, '')));
      }
      if (items.length >= max) {
        break;
      }
    }
  } finally {
    file.destroy();
  }
  return items;
}

const csv = { extension: 'csv', contentType: 'text/csv; charset=utf-8; header=present' };

/** What the file of a report is called and sent as, by its format. */
export const fileTypes: Record<ReportFormat, { extension: string; contentType: string }> = {
  json: { extension: 'json', contentType: 'application/json' },
  csv,
  'csv-excel': csv,
  xlsx: {
    extension: 'xlsx',
    contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  },
};
