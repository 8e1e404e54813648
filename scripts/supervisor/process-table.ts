/** What the system knows of a process, by its number. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

/** Empty if there is no such process. A zombie has an empty command line: it is over. */
export function commandLine(pid: number): string {
  try {
    return fs.existsSync('/proc/self/cmdline')
      ? fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      : ps('command=', pid);
  } catch {
    return '';
  }
}

/** Null if there is no such process. */
export function parentOf(pid: number): number | null {
  try {
    // "pid (name) state parent …", and the name may hold anything.
    const parent = fs.existsSync('/proc/self/stat')
      ? fs
          .readFileSync(`/proc/${pid}/stat`, 'utf8')
          .replace(/^.*\) \S+ /s, '')
          .split(' ')[0]
      : ps('ppid=', pid);
    return Number(parent);
  } catch {
    return null;
  }
}

function ps(column: string, pid: number): string {
  return execFileSync('ps', ['-ww', '-o', column, '-p', String(pid)], { encoding: 'utf8', stdio: 'pipe' });
}
