/** LOCAL_DIR: everything that a copy of the service keeps on this machine, and which copy holds it now. */
import fs from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../config/project-file.js';
import { PlainError } from '../supervisor/plain-error.js';
import { isOurs, readPidFile } from '../supervisor/pid-files.js';

/** Absolute. `.local` in the clone unless LOCAL_DIR says otherwise. */
export function localDirOf(env: NodeJS.ProcessEnv): string {
  const given = env['LOCAL_DIR'];
  return path.resolve(projectRoot, given === undefined || given === '' ? '.local' : given);
}

/**
 * Takes the directory for this process until it ends.
 * @throws PlainError when a running copy holds it.
 */
export function holdLocalDir(localDir: string): void {
  fs.mkdirSync(localDir, { recursive: true });
  const holder = holderOf(localDir);
  if (holder !== null) {
    throw new PlainError(
      `A copy already runs in ${localDir} (process ${holder}).\n` +
        'Stop it first (Ctrl-C in its terminal), or start this one beside it:\n' +
        '  PORT=3001 LOCAL_DIR=.local/second npm start',
    );
  }
  const file = holderFile(localDir);
  const mine = `${file}.${process.pid}`;
  fs.rmSync(file, { force: true });
  fs.writeFileSync(mine, String(process.pid));
  try {
    // Fails if another start was faster.
    fs.linkSync(mine, file);
  } catch (error) {
    throw new PlainError(`Another copy is just being started in ${localDir}.`, { cause: error });
  } finally {
    fs.rmSync(mine);
  }
}

export function releaseLocalDir(localDir: string): void {
  if (readPidFile(holderFile(localDir)) === process.pid) {
    fs.rmSync(holderFile(localDir));
  }
}

/** The process id of the copy that runs in the directory, or null. */
export function holderOf(localDir: string): number | null {
  const pid = readPidFile(holderFile(localDir));
  return isOurs(pid, path.join('scripts', 'start')) ? pid : null;
}

function holderFile(localDir: string): string {
  return path.join(localDir, 'start.pid');
}
