import { request } from 'undici';

export interface Download {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** The lines of the file as they come. The client takes no more than it has read. */
  lines(): AsyncGenerator<string>;
  /** Bytes received so far. */
  bytes(): number;
}

/**
 * Downloads a file as a stream.
 * @param options.pace Awaited before each of the first pieces is taken: a client on a slow line.
 */
export async function download(
  url: string,
  options: { key?: string; pace?: { pieces: number; wait: () => Promise<unknown> } } = {},
): Promise<Download> {
  const { statusCode, headers, body } = await request(url, {
    ...(options.key !== undefined && { headers: { authorization: `Bearer ${options.key}` } }),
  });
  let bytes = 0;
  async function* lines(): AsyncGenerator<string> {
    let rest = '';
    let pieces = 0;
    for await (const piece of body as AsyncIterable<Buffer>) {
      bytes += piece.length;
      pieces += 1;
      if (options.pace && pieces <= options.pace.pieces) {
        await options.pace.wait();
      }
      const found = (rest + piece.toString('utf8')).split('\n');
      rest = found.pop() ?? '';
      yield* found.map((line) => line.replace(/\r$/, ''));
    }
    if (rest !== '') {
      yield rest;
    }
  }
  return { status: statusCode, headers, lines, bytes: () => bytes };
}
