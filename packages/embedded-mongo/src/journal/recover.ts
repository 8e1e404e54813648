import { statSync } from 'node:fs';
import { readEntries } from './block.js';
import { DataDirectoryError } from './data-directory-error.js';
import { deleteFiles, journalPath, listJournalFiles, snapshotPath } from './journal-files.js';
import { readBlocks } from './read-blocks.js';

/** The position at which the journal is continued after recovery. */
export interface JournalPosition {
  generation: number;
  /** Size of the file `journal.<generation>` in bytes. Zero if the file does not exist yet. */
  offset: number;
  /** Sequence number of the next block in that file. */
  sequence: number;
  /** Bytes of the newest snapshot. */
  snapshotBytes: number;
  /** Bytes of the journals after that snapshot. */
  journalBytes: number;
}

/**
 * Passes every entry of the directory to `apply`, oldest first. Then removes a torn tail.
 * @throws DataDirectoryError if a file is damaged or missing. No file is changed in that case.
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

/** Applies the entries of a snapshot. A complete snapshot ends with an empty entry. */
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
