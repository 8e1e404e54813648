import { closeSync, fstatSync, openSync, readSync, truncateSync } from 'node:fs';
import { BLOCK_HEADER_BYTES, findIntactBlock, isIntact, payloadLength, sequenceOf } from './block.js';
import { DataDirectoryError } from './data-directory-error.js';

const READ_BYTES = 8 << 20;

/**
 * Yields the blocks of one file in order. The newest journal may have a torn tail, which is a
 * truncated or damaged block without an intact block after it. A crash leaves such a block if the
 * last write was not complete, and that write was never acknowledged. The torn tail ends the file.
 *
 * Any other damage throws, because skipping it would lose acknowledged writes.
 */
export function* readBlocks(path: string, { mayBeTorn }: { mayBeTorn: boolean }): Generator<Buffer, void> {
  const fd = openSync(path, 'r');
  try {
    const size = fstatSync(fd).size;
    let offset = 0;
    let sequence = 0;
    let window: Buffer = Buffer.alloc(0);
    let windowStart = 0;
    /**
     * Reads `bytes` bytes at `offset` into the window. Returns false if the file ends before them.
     */
    const available = (bytes: number): boolean => {
      if (offset + bytes <= windowStart + window.length) {
        return true;
      }
      if (offset + bytes > size) {
        return false;
      }
      window = readRange(fd, offset, Math.min(Math.max(bytes, READ_BYTES), size - offset));
      windowStart = offset;
      return true;
    };
    while (offset < size) {
      const length = available(BLOCK_HEADER_BYTES) ? payloadLength(window, offset - windowStart) : -1;
      const whole = BLOCK_HEADER_BYTES + length;
      if (length < 0 || !available(whole) || !isIntact(window, offset - windowStart)) {
        endAtDamage(path, { fd, offset, size, mayBeTorn });
        return;
      }
      const start = offset - windowStart;
      if (sequenceOf(window, start) !== sequence) {
        throw createDamageError(
          path,
          offset,
          `block ${sequenceOf(window, start)} follows block ${sequence - 1}`,
        );
      }
      yield window.subarray(start, start + whole);
      offset += whole;
      sequence = (sequence + 1) >>> 0;
    }
  } finally {
    closeSync(fd);
  }
}

function endAtDamage(
  path: string,
  { fd, offset, size, mayBeTorn }: { fd: number; offset: number; size: number; mayBeTorn: boolean },
): void {
  const rest = readRange(fd, offset, size - offset);
  if (!mayBeTorn || findIntactBlock(rest, 1) >= 0) {
    throw createDamageError(
      path,
      offset,
      'a block is damaged, and the data after it is not the torn end of the last write',
    );
  }
  truncateSync(path, offset);
}

function readRange(fd: number, position: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  let read = 0;
  while (read < length) {
    const n = readSync(fd, buffer, read, length - read, position + read);
    if (n === 0) {
      throw new Error(`the file became shorter while it was read (at ${position + read})`);
    }
    read += n;
  }
  return buffer;
}

function createDamageError(path: string, offset: number, what: string): DataDirectoryError {
  return new DataDirectoryError(
    `The data file ${path} is damaged at byte ${offset}: ${what}. Nothing was changed. ` +
      'Restore the directory from a copy, or delete it to start empty.',
  );
}
