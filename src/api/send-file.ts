import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import type { FileReply } from './operation.js';

/** Streams a file to the client. A client that goes away ends the reading; it is no error of ours. */
export async function sendFile(response: Response, file: FileReply): Promise<void> {
  const content = file.open();
  // What fails before the first byte is answered as any failure; after it the connection can only break.
  await once(content, 'readable');
  response.set({
    'Content-Type': file.type,
    ...(file.size !== null && { 'Content-Length': String(file.size) }),
    'Content-Disposition': `attachment; filename="${file.filename}"`,
    'Cache-Control': 'private, no-store',
  });
  try {
    await pipeline(content, response);
  } catch (error) {
    if (!response.destroyed) {
      throw error;
    }
  }
}
