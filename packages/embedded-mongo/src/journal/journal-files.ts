import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DataDirectoryError, describeSystemError } from './data-directory-error.js';

/**
 * The files of a data directory. `snapshot.<n>` contains all data up to the start of generation n.
 * `journal.<n>`, `journal.<n+1>` and so on contain the later changes. `*.tmp` is an incomplete
 * snapshot.
 */
export interface JournalFiles {
  /** Generation of the newest snapshot. Undefined if there is no snapshot yet. */
  snapshot: number | undefined;
  /**
   * Generations of the journals to read after the snapshot, ascending and without gaps. May be
   * empty.
   */
  journals: number[];
  /** Files that are no longer needed, because the newest snapshot replaces them. */
  obsolete: string[];
}

export function snapshotPath(directory: string, generation: number): string {
  return join(directory, `snapshot.${generation}`);
}

export function journalPath(directory: string, generation: number): string {
  return join(directory, `journal.${generation}`);
}

/**
 * Creates the directory if it does not exist.
 * @throws DataDirectoryError if that fails.
 */
export function createDataDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true });
  } catch (error) {
    throw new DataDirectoryError(
      `Cannot use ${directory} as the data directory: ${describeSystemError(error)}.`,
      {
        cause: error,
      },
    );
  }
}

export function listJournalFiles(directory: string): JournalFiles {
  const names = readdirSync(directory);
  const generations = (kind: string): number[] =>
    names
      .map((name) => new RegExp(`^${kind}\\.(\\d+)$`).exec(name)?.[1])
      .filter((digits) => digits !== undefined)
      .map(Number)
      .sort((a, b) => a - b);
  const snapshots = generations('snapshot');
  const snapshot = snapshots.at(-1);
  const first = snapshot ?? 1;
  const journals = generations('journal').filter((generation) => generation >= first);
  journals.forEach((generation, i) => {
    if (generation !== first + i) {
      throw new DataDirectoryError(
        `The file ${journalPath(directory, first + i)} is missing, but later journals exist.`,
      );
    }
  });
  const obsolete = [
    ...names.filter((name) => name.endsWith('.tmp')).map((name) => join(directory, name)),
    ...snapshots
      .filter((generation) => generation < first)
      .map((generation) => snapshotPath(directory, generation)),
    ...generations('journal')
      .filter((generation) => generation < first)
      .map((generation) => journalPath(directory, generation)),
  ];
  return { snapshot, journals, obsolete };
}

export function deleteFiles(paths: readonly string[]): void {
  for (const path of paths) {
    unlinkSync(path);
  }
}

/** Syncs the directory, so that created, renamed and deleted files are durable. */
export function syncDirectory(directory: string): void {
  const fd = openSync(directory, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
