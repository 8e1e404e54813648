import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import type { FileReply } from './operation.js';

/** Streams a file to the client. A client that goes away ends the reading; it is no error of ours. */
export async function sendFile(response: Response, file: FileReply): Promise<void> {
  response.set({
    'Content-Type': file.type,
    'Content-Length': String(file.size),
    'Content-Disposition': `attachment; filename="${file.filename}"`,
    'Cache-Control': 'private, no-store',
  });
  try {
    await pipeline(file.open(), response);
  } catch (error) {
    if (!response.destroyed) {
      throw error;
    }
  }
}
