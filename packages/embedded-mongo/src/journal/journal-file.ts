import { closeSync, constants, fdatasync, ftruncateSync, openSync, write } from 'node:fs';
import { promisify } from 'node:util';
import { encodeBlock } from './block.js';
import { journalPath, syncDirectory } from './journal-files.js';
import type { JournalPosition } from './recover.js';

const fdatasyncAsync = promisify(fdatasync);
const writeAsync = promisify(write);

/**
 * The file that the journal appends to. A caller must wait for each call before it makes the next
 * one.
 */
export interface JournalFile {
  /**
   * Writes the entries as one block and resolves to the number of bytes. With `sync` it resolves
   * only after the block is on disk.
   */
  write: (entries: readonly Buffer[]) => Promise<number>;
  /** Closes the file, opens the next one and returns its generation. */
  next: () => number;
  /** Removes the partial block of a failed write from the end of the file. */
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
 * Opens the file without append mode, because each write has an explicit position. A partial block
 * can then be removed.
 */
function openFile(directory: string, generation: number): number {
  const fd = openSync(journalPath(directory, generation), constants.O_RDWR | constants.O_CREAT, 0o600);
  syncDirectory(directory);
  return fd;
}

/**
 * Writes the whole block. A full disk may accept only a part of a write, without an error. Writing
 * the remaining part then throws the error.
 */
async function writeFully(fd: number, block: Buffer, position: number): Promise<void> {
  let written = 0;
  while (written < block.length) {
    const { bytesWritten } = await writeAsync(fd, block, written, block.length - written, position + written);
    written += bytesWritten;
  }
}
