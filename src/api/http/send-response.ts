import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { createKeyedQueue } from '../../shared/concurrency.js';
import { once } from 'node:events';
import type { FileReply } from '../contract/operation.js';

/** Characters serialized per piece. One piece takes a fraction of a millisecond. */
const chunkLength = 32 * 1024;

const runPiece = createKeyedQueue();

/**
 * A list in a response that may be long. Its items are read while it is sent, and reading them must
 * not fail.
 */
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
 * Sends `body` as JSON. A list in `data` is serialized piece by piece, as fast as the client reads
 * it. Concurrent lists take turns: each event loop iteration serializes one piece (decision 030).
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
    // Buffers at most one chunk ahead of a slow client.
    await pipeline(Readable.from(text(), { highWaterMark: 1 }), response);
  } catch (error) {
    // A client that disconnects is not an error.
    if (!response.destroyed) {
      throw error;
    }
  }
}

function makeNextChunk(chunks: Iterator<string, void>): Promise<IteratorResult<string, void>> {
  return runInTurn(() => chunks.next());
}

/** Runs one callback per event loop iteration, across all lists. */
export function runInTurn<T>(makePiece: () => T): Promise<T> {
  return runPiece('piece', async () => {
    await setImmediate();
    return makePiece();
  });
}

/** Yields the JSON of a body: `others`, which must have at least one field, and then `data`. */
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

/** Streams a file to the client. If the client disconnects, reading stops without an error. */
export async function sendFile(response: Response, file: FileReply): Promise<void> {
  const content = file.open();
  // A failure before the first byte gets a normal failure response. A later one can only break the
  // connection.
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
