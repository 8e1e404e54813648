import { closeSync, constants, fdatasync, ftruncateSync, openSync, write } from 'node:fs';
import { promisify } from 'node:util';
import { encodeBlock } from './block.js';
import { journalPath, syncDirectory } from './journal-files.js';
import type { JournalPosition } from './recover.js';

const fdatasyncAsync = promisify(fdatasync);
const writeAsync = promisify(write);

/** The last file of the journal. Only one call at a time. */
export interface JournalFile {
  /**
   * Writes the entries as one block. With `sync` it waits until the block is on disk. Resolves to
   * the number of bytes.
   */
  write: (entries: readonly Buffer[]) => Promise<number>;
  /** Switches to a new file and returns its generation. */
  next: () => number;
  /** Truncates the partial block of a failed write. */
  cut: () => void;
  close: () => void;
}

export function openJournalFile(directory: string, sync: boolean, position: JournalPosition): JournalFile {
  let { generation, offset, sequence } = position;
  let fd = openFile(directory, generation);
  return {
    async write(entries) {
      const block = encodeBlock(sequence, entries);
      await writeFully(fd, block, offset);
      if (sync) {
        await fdatasyncAsync(fd);
      }
      sequence = (sequence + 1) >>> 0;
      offset += block.length;
      return block.length;
    },
    next() {
      const fresh = openFile(directory, generation + 1);
      closeSync(fd);
      fd = fresh;
      generation += 1;
      offset = 0;
      sequence = 0;
      return generation;
    },
    cut() {
      ftruncateSync(fd, offset);
    },
    close() {
      closeSync(fd);
    },
  };
}

/**
 * Not in append mode: each write has an explicit position, so that a failed one can be truncated.
 */
function openFile(directory: string, generation: number): number {
  const fd = openSync(journalPath(directory, generation), constants.O_RDWR | constants.O_CREAT, 0o600);
  syncDirectory(directory);
  return fd;
}

/**
 * A full disk may accept part of a write without an error. The next attempt then reports the
 * reason.
 */
async function writeFully(fd: number, block: Buffer, position: number): Promise<void> {
  let written = 0;
  while (written < block.length) {
    const { bytesWritten } = await writeAsync(fd, block, written, block.length - written, position + written);
    written += bytesWritten;
  }
}
