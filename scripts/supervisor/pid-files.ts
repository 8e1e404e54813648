/**
 * Knows the processes of a copy by files in its LOCAL_DIR, so that a copy whose machine or supervisor died can be
 * started again: what is left over is recognised and stopped, and nothing else ever is.
 */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { commandLine } from './process-table.js';

const pollMs = 50;

export function pidFile(localDir: string, name: string): string {
  return path.join(localDir, 'pids', `${name}.pid`);
}

export function writePidFile(localDir: string, name: string, pid: number): void {
  const file = pidFile(localDir, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, String(pid));
}

export function readPidFile(file: string): number | null {
  const pid = fs.existsSync(file) ? Number(fs.readFileSync(file, 'utf8')) : Number.NaN;
  return Number.isSafeInteger(pid) && pid > 0 ? pid : null;
}

/** True if a process has this number and `mark` on its command line: numbers are given out again, marks are ours. */
export function isOurs(pid: number | null, mark: string): pid is number {
  return pid !== null && pid !== process.pid && commandLine(pid).includes(mark);
}

/**
 * Ends what is left of this copy's processes, politely first.
 * @param politeMs how long they may take to stop before they are killed.
 * @returns their names.
 */
export async function stopLeftovers(localDir: string, politeMs: number): Promise<string[]> {
  const dir = path.join(localDir, 'pids');
  const files = fs.existsSync(dir) ? fs.readdirSync(dir) : [];
  const left = files
    .map((file) => ({ name: path.parse(file).name, pid: readPidFile(path.join(dir, file)) }))
    .filter((each): each is { name: string; pid: number } => isOurs(each.pid, localDir));
  await stopProcesses(
    left.map(({ pid }) => pid),
    { mark: localDir, politeMs },
  );
  fs.rmSync(dir, { recursive: true, force: true });
  return left.map(({ name }) => name);
}

/** SIGTERM, then SIGKILL for those that still run after `politeMs`. Touches only processes that bear the mark. */
export async function stopProcesses(pids: number[], how: { mark: string; politeMs: number }): Promise<void> {
  const alive = () => pids.filter((pid) => isOurs(pid, how.mark));
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    for (const pid of alive()) {
      endProcess(pid, signal);
    }
    const deadline = performance.now() + how.politeMs;
    while (alive().length > 0 && performance.now() < deadline) {
      await delay(pollMs);
    }
  }
}

function endProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself in this very moment.
  }
}
