import { closeSync, constants, fdatasync, ftruncateSync, openSync, write } from 'node:fs';
import { promisify } from 'node:util';
import { encodeBlock } from './block.js';
import { journalPath, syncDirectory } from './journal-files.js';
import type { JournalPosition } from './recover.js';

const fdatasyncAsync = promisify(fdatasync);
const writeAsync = promisify(write);

/** The file at the end of the journal. One call at a time. */
export interface JournalFile {
  /** Writes the entries as one block and, with `sync`, waits until it is on disk. Resolves to its bytes. */
  write: (entries: readonly Buffer[]) => Promise<number>;
  /** Goes on in a new file; returns its generation. */
  next: () => number;
  /** Cuts off what a failed write left. */
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

/** Not in append mode: each write names its place, so that a failed one can be cut off. */
function openFile(directory: string, generation: number): number {
  const fd = openSync(journalPath(directory, generation), constants.O_RDWR | constants.O_CREAT, 0o600);
  syncDirectory(directory);
  return fd;
}

/** A full disk may take a part of a write without an error; the next attempt then names the reason. */
async function writeFully(fd: number, block: Buffer, position: number): Promise<void> {
  let written = 0;
  while (written < block.length) {
    const { bytesWritten } = await writeAsync(fd, block, written, block.length - written, position + written);
    written += bytesWritten;
  }
}
