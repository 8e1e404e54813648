/** Facts about a process from the operating system. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

/** Returns the command line of a process. Empty for an unknown process or a zombie. */
export function commandLine(pid: number): string {
  try {
    return fs.existsSync('/proc/self/cmdline')
      ? fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      : ps('command=', pid);
  } catch {
    return '';
  }
}

/** Returns the process id of the parent. Null for an unknown process. */
export function parentOf(pid: number): number | null {
  try {
    // Format: "pid (name) state parent …". The name may contain any character.
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
