import { statSync } from 'node:fs';
import { readEntries } from './block.js';
import { DataDirectoryError } from './data-directory-error.js';
import { deleteFiles, journalPath, listJournalFiles, snapshotPath } from './journal-files.js';
import { readBlocks } from './read-blocks.js';

/** Position at which appending continues after recovery. */
export interface JournalPosition {
  generation: number;
  /** Bytes of the file `journal.<generation>`; 0 if it does not exist yet. */
  offset: number;
  /** Sequence number of its next block. */
  sequence: number;
  /** Bytes of the newest snapshot and of the journals after it. */
  snapshotBytes: number;
  journalBytes: number;
}

/**
 * Passes every entry of the directory to `apply`, oldest first, and truncates a torn tail. Throws
 * DataDirectoryError, without changing anything, when a file is damaged or missing.
 */
export function recover(directory: string, apply: (entry: Buffer) => void): JournalPosition {
  const files = listJournalFiles(directory);
  let snapshotBytes = 0;
  if (files.snapshot !== undefined) {
    const path = snapshotPath(directory, files.snapshot);
    applySnapshot(path, apply);
    snapshotBytes = statSync(path).size;
  }
  const position: JournalPosition = {
    generation: files.snapshot ?? 1,
    offset: 0,
    sequence: 0,
    snapshotBytes,
    journalBytes: 0,
  };
  for (const generation of files.journals) {
    const path = journalPath(directory, generation);
    let sequence = 0;
    for (const block of readBlocks(path, { mayBeTorn: generation === files.journals.at(-1) })) {
      for (const entry of readEntries(block)) {
        apply(entry);
      }
      sequence += 1;
    }
    const offset = statSync(path).size;
    Object.assign(position, { generation, offset, sequence, journalBytes: position.journalBytes + offset });
  }
  deleteFiles(files.obsolete);
  return position;
}

/** A snapshot ends with an empty entry. Without it the file is incomplete. */
function applySnapshot(path: string, apply: (entry: Buffer) => void): void {
  let complete = false;
  for (const block of readBlocks(path, { mayBeTorn: false })) {
    for (const entry of readEntries(block)) {
      complete = entry.length === 0;
      if (!complete) {
        apply(entry);
      }
    }
  }
  if (!complete) {
    throw new DataDirectoryError(
      `The data file ${path} is damaged: its end is missing. Nothing was changed.`,
    );
  }
}
