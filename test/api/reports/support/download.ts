import { request } from 'undici';

export interface Download {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** Yields the file in chunks. A chunk is requested only after the previous one was read. */
  pieces(): AsyncGenerator<Buffer>;
  /** Yields the file line by line. */
  lines(): AsyncGenerator<string>;
  /** Returns the bytes received so far. */
  bytes(): number;
}

/**
 * Downloads a file as a stream.
 * @param options.pace Awaited before each of the first chunks is read, to simulate a slow
 * connection.
 */
export async function download(
  url: string,
  options: { key?: string; pace?: { pieces: number; wait: () => Promise<unknown> } } = {},
): Promise<Download> {
  const { statusCode, headers, body } = await request(url, {
    ...(options.key !== undefined && { headers: { authorization: `Bearer ${options.key}` } }),
  });
  let bytes = 0;
  async function* pieces(): AsyncGenerator<Buffer> {
    let taken = 0;
    for await (const piece of body as AsyncIterable<Buffer>) {
      bytes += piece.length;
      taken += 1;
      if (options.pace && taken <= options.pace.pieces) {
        await options.pace.wait();
      }
      yield piece;
    }
  }
  async function* lines(): AsyncGenerator<string> {
    let rest = '';
    for await (const piece of pieces()) {
      const found = (rest + piece.toString('utf8')).split('\n');
      rest = found.pop() ?? '';
      yield* found.map((line) => line.replace(/\r$/, ''));
    }
    if (rest !== '') {
      yield rest;
    }
  }
  return { status: statusCode, headers, pieces, lines, bytes: () => bytes };
}
