/** The files of reports, in GridFS: every process can write and read them, whichever machine it is on. */
import type { Readable, Writable } from 'node:stream';
import mongoose from 'mongoose';

const chunkBytes = 255 * 1024;

function bucket() {
  const { db } = mongoose.connection;
  if (!db) {
    throw new Error('MongoDB is not connected');
  }
  return new mongoose.mongo.GridFSBucket(db, { bucketName: 'reportFiles', chunkSizeBytes: chunkBytes });
}

/** A report that is generated twice writes two files; the one whose name the report keeps is read. */
export function fileIdOf(report: { _id: string; epoch: number }): string {
  return `${report._id}-${report.epoch}`;
}

export function writeReportFile(fileId: string, filename: string): Writable {
  return bucket().openUploadStreamWithId(fileId as never, filename);
}

export function readReportFile(fileId: string): Readable {
  return bucket().openDownloadStream(fileId as never);
}

/** Removes a file, or what a worker that died has left of it. */
export async function deleteReportFile(fileId: string): Promise<void> {
  await bucket()
    .delete(fileId as never)
    .catch((error: unknown) => {
      if (!(error instanceof Error && /not found/i.test(error.message))) {
        throw error;
      }
    });
}
