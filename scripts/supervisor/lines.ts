import type { Readable } from 'node:stream';
import { createInterface } from 'node:readline';

/** Calls `take` with every line of a stream. Very long lines are truncated to bound memory. */
export function eachLine(stream: Readable, take: (line: string) => void): void {
  stream.on('error', () => undefined);
  createInterface({ input: stream, crlfDelay: Infinity }).on('line', (line) => {
    if (line.trim() !== '') {
      take(line.length > 20_000 ? `${line.slice(0, 20_000)}…` : line);
    }
  });
}
