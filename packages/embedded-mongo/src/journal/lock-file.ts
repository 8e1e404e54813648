import { closeSync, linkSync, openSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DataDirectoryError, describeSystemError } from './data-directory-error.js';

const TAKEOVER_MS_MAX = 10_000;

/**
 * Directories that this process has locked. A lock file has only the process id and cannot show
 * that two servers of one process use the same directory.
 */
const heldHere = new Set<string>();

/**
 * Makes this process the only user of a data directory and returns a function that releases the
 * lock. The lock of a process that has ended is replaced.
 * @throws DataDirectoryError if this process or another one already uses the directory.
 */
export function lockDirectory(directory: string): () => void {
  const path = join(directory, 'lock');
  if (heldHere.has(path)) {
    throw createInUseError(directory, process.pid);
  }
  if (!createLock(path)) {
    takeOver(directory, path);
  }
  heldHere.add(path);
  return () => {
    heldHere.delete(path);
    unlinkIfPresent(path);
  };
}

/**
 * Creates the lock file together with its content, in one atomic step. An empty lock file would
 * look stale to other processes.
 */
function createLock(path: string): boolean {
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, `${process.pid} ${startOf(process.pid)}\n`);
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) {
      return false;
    }
    throw new DataDirectoryError(`Cannot create the lock file ${path}: ${describeSystemError(error)}.`, {
      cause: error,
    });
  } finally {
    unlinkIfPresent(draft);
  }
}

/**
 * Replaces a stale lock. A second file, created exclusively, ensures that only one of several
 * processes replaces it.
 */
function takeOver(directory: string, path: string): void {
  const mutex = `${path}.takeover`;
  removeIfOld(mutex);
  let fd: number;
  try {
    fd = openSync(mutex, 'wx');
  } catch (error) {
    throw new DataDirectoryError(`Another process is opening the data directory ${directory}.`, {
      cause: error,
    });
  }
  closeSync(fd);
  try {
    const holder = liveHolder(path);
    if (holder !== undefined) {
      throw createInUseError(directory, holder);
    }
    unlinkIfPresent(path);
    if (!createLock(path)) {
      throw new DataDirectoryError(`Another process has just opened the data directory ${directory}.`);
    }
  } finally {
    unlinkIfPresent(mutex);
  }
}

/**
 * Returns the process id in the lock file if that process is still running. A process id may be
 * reused, so the start time must match too.
 */
function liveHolder(path: string): number | undefined {
  const [pidText = '', start = ''] = readIfPresent(path).trim().split(' ');
  const pid = Number(pidText);
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) {
    return undefined;
  }
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!hasCode(error, 'EPERM')) {
      return undefined;
    }
  }
  return startOf(pid) === start ? pid : undefined;
}

/**
 * Returns the start time of a process in clock ticks since boot, and the boot id. Returns `-` on
 * systems without this information.
 */
function startOf(pid: number): string {
  const stat = readIfPresent(`/proc/${pid}/stat`);
  const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  return ticks === undefined ? '-' : `${ticks}@${readIfPresent('/proc/sys/kernel/random/boot_id').trim()}`;
}

function removeIfOld(path: string): void {
  const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity);
  if (age > TAKEOVER_MS_MAX) {
    unlinkIfPresent(path);
  }
}

function readIfPresent(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

function unlinkIfPresent(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) {
      throw error;
    }
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

function createInUseError(directory: string, pid: number): DataDirectoryError {
  return new DataDirectoryError(
    `The data directory ${directory} is in use by process ${pid}. Stop it first.`,
  );
}
