/** LOCAL_DIR: all local data of a copy, and the lock of the copy that uses it. */
import fs from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../config/project-file.js';
import { PlainError } from '../supervisor/plain-error.js';
import { isOwnProcess, readPidFile } from '../supervisor/pid-files.js';

/** Returns LOCAL_DIR as an absolute path. By default it is `.local` in the clone. */
export function localDirOf(env: NodeJS.ProcessEnv): string {
  const configuredDir = env['LOCAL_DIR'];
  return path.resolve(
    projectRoot,
    configuredDir === undefined || configuredDir === '' ? '.local' : configuredDir,
  );
}

/**
 * Locks the directory for this process.
 * @throws PlainError if a running copy holds the lock.
 */
export function lockLocalDir(localDir: string): void {
  fs.mkdirSync(localDir, { recursive: true });
  const holder = holderOf(localDir);
  if (holder !== null) {
    throw new PlainError(
      `A copy already runs in ${localDir} (process ${holder}).\n` +
        'Stop it first (Ctrl-C in its terminal), or start a second copy:\n' +
        '  PORT=3001 LOCAL_DIR=.local/second npm start',
    );
  }
  const file = holderFile(localDir);
  const mine = `${file}.${process.pid}`;
  fs.rmSync(file, { force: true });
  fs.writeFileSync(mine, String(process.pid));
  try {
    // Throws if another start was faster.
    fs.linkSync(mine, file);
  } catch (error) {
    throw new PlainError(`Another copy is starting in ${localDir}.`, { cause: error });
  } finally {
    fs.rmSync(mine);
  }
}

export function unlockLocalDir(localDir: string): void {
  if (readPidFile(holderFile(localDir)) === process.pid) {
    fs.rmSync(holderFile(localDir));
  }
}

/** Returns the process id of the copy that runs in the directory. Null if there is none. */
export function holderOf(localDir: string): number | null {
  const pid = readPidFile(holderFile(localDir));
  return isOwnProcess(pid, path.join('scripts', 'start')) ? pid : null;
}

function holderFile(localDir: string): string {
  return path.join(localDir, 'start.pid');
}
