import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { createKeyedQueue } from '../../shared/concurrency.js';
import { once } from 'node:events';
import type { FileReply } from '../contract/operation.js';

/** Characters that are made at once, in a fraction of a millisecond. */
const chunkLength = 32 * 1024;

const runPiece = createKeyedQueue();

/** An array of an answer that may be long: its items are taken while it is sent, and must not fail. */
export class JsonList<T> {
  constructor(private readonly items: Iterable<T>) {}

  map<U>(present: (item: T) => U): JsonList<U> {
    const { items } = this;
    return new JsonList({
      *[Symbol.iterator]() {
        for (const item of items) {
          yield present(item);
        }
      },
    });
  }

  [Symbol.iterator](): Iterator<T> {
    return this.items[Symbol.iterator]();
  }
}

/**
 * Answers with `body` as JSON. Where its `data` is a list, that is made piece by piece, as fast as the client takes it,
 * and all lists together hold the event loop for one piece at a time (decision 030).
 */
export async function sendJson(response: Response, body: Record<string, unknown>): Promise<void> {
  const { data, ...others } = body;
  if (!(data instanceof JsonList)) {
    response.json(body);
    return;
  }
  const chunks = buildChunks(others, data);
  const first = await makeNextChunk(chunks);
  const second = await makeNextChunk(chunks);
  response.type('json');
  if (second.done) {
    response.send(first.value ?? '');
    return;
  }
  const text = async function* () {
    yield first.value;
    let chunk: IteratorResult<string, void> = second;
    while (!chunk.done) {
      yield chunk.value;
      chunk = await makeNextChunk(chunks);
    }
  };
  try {
    // Of what is ahead of a slow client no more than one chunk is held.
    await pipeline(Readable.from(text(), { highWaterMark: 1 }), response);
  } catch (error) {
    // A client that went away is no error of ours.
    if (!response.destroyed) {
      throw error;
    }
  }
}

function makeNextChunk(chunks: Iterator<string, void>): Promise<IteratorResult<string, void>> {
  return runInTurn(() => chunks.next());
}

/** One piece of one list in each round of the event loop, whoever else is waiting. */
export function runInTurn<T>(makePiece: () => T): Promise<T> {
  return runPiece('piece', async () => {
    await setImmediate();
    return makePiece();
  });
}

/** The JSON of a body: `others`, of which there must be one, and then `data`. */
function* buildChunks(others: Record<string, unknown>, data: JsonList<unknown>): Generator<string, void> {
  let chunk = `${JSON.stringify(others).slice(0, -1)},"data":[`;
  let separator = '';
  for (const item of data) {
    chunk += separator + JSON.stringify(item);
    separator = ',';
    if (chunk.length >= chunkLength) {
      yield chunk;
      chunk = '';
    }
  }
  yield `${chunk}]}`;
}

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
