/** Report files in GridFS, which every process can read and write. */
import { Readable, type Writable } from 'node:stream';
import mongoose from 'mongoose';
import type { Report, ReportFormat } from './report.model.js';
import { createInterface } from 'node:readline';

const bucketName = 'reportFiles';
const chunkBytes = 255 * 1024;

type Attempt = Pick<Report, '_id' | 'epoch'>;

/**
 * Returns the file id of an attempt. A report that is generated twice writes two files. Only the
 * file of its current epoch is read.
 */
export function getFileId({ _id, epoch }: Attempt): string {
  return `${_id}-${epoch}`;
}

/**
 * Opens the file for writing. The file becomes readable when the stream finishes. Until then only
 * its chunks exist.
 */
export function writeReportFile(report: Pick<Report, '_id' | 'epoch' | 'filename'>): Writable {
  const bucket = new mongoose.mongo.GridFSBucket(getDatabase(), { bucketName, chunkSizeBytes: chunkBytes });
  // GridFS accepts ids of any type, but the driver's types only allow ObjectId.
  return bucket.openUploadStreamWithId(getFileId(report) as never, report.filename);
}

/**
 * Reads a report's file chunk by chunk, on demand. The driver's own stream would buffer up to 16 MB
 * per reader, and leave its cursor open when the reader disconnects.
 */
export function readReportFile(report: Attempt): Readable {
  return Readable.from(readChunks(getFileId(report)), { objectMode: false });
}

async function* readChunks(fileId: string): AsyncGenerator<Buffer> {
  const file = await getFiles().findOne({ _id: fileId });
  if (!file) {
    throw new Error(`There is no report file ${fileId}`);
  }
  for (let n = 0, left = file.length; left > 0; n += 1) {
    const chunk = await getChunks().findOne(
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

/** Removes the file of this attempt, even an incomplete one that a crashed worker left. */
export async function deleteReportFile(report: Attempt): Promise<void> {
  await deleteFiles([getFileId(report)]);
}

/** Removes the files of earlier attempts. */
export async function deleteEarlierFiles({ _id, epoch }: Attempt): Promise<void> {
  await deleteFiles(Array.from({ length: epoch - 1 }, (_, index) => getFileId({ _id, epoch: index + 1 })));
}

async function deleteFiles(ids: string[]): Promise<void> {
  await getFiles().deleteMany({ _id: { $in: ids } });
  await getChunks().deleteMany({ files_id: { $in: ids } });
}

function getFiles() {
  return getDatabase().collection<{ _id: string; length: number }>(`${bucketName}.files`);
}

function getChunks() {
  return getDatabase().collection<{ files_id: string; n: number; data: Buffer }>(`${bucketName}.chunks`);
}

function getDatabase() {
  const { db } = mongoose.connection;
  if (!db) {
    throw new Error('MongoDB is not connected');
  }
  return db;
}

/** Reads the first `max` items of a JSON report, line by line (see report-text.ts). */
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

const csvType = { extension: 'csv', contentType: 'text/csv; charset=utf-8; header=present' };

/** File extension and content type of each format. */
export const fileTypes: Record<ReportFormat, { extension: string; contentType: string }> = {
  json: { extension: 'json', contentType: 'application/json' },
  csv: csvType,
  'csv-excel': csvType,
  xlsx: {
    extension: 'xlsx',
    contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  },
};
