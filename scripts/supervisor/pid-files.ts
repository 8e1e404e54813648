/**
 * Tracks a copy's processes by pid files in its LOCAL_DIR. After a crash, a later start finds and
 * stops only the leftovers of this copy.
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

/**
 * True if the process exists and has `mark` in its command line. The mark is checked because the
 * operating system reuses process ids.
 */
export function isOwnProcess(pid: number | null, mark: string): pid is number {
  return pid !== null && pid !== process.pid && commandLine(pid).includes(mark);
}

/**
 * Stops leftover processes of this copy.
 * @param politeMs Milliseconds between SIGTERM and SIGKILL.
 * @returns The names of the stopped processes.
 */
export async function stopLeftovers(localDir: string, politeMs: number): Promise<string[]> {
  const dir = path.join(localDir, 'pids');
  const files = fs.existsSync(dir) ? fs.readdirSync(dir) : [];
  const left = files
    .map((file) => ({ name: path.parse(file).name, pid: readPidFile(path.join(dir, file)) }))
    .filter((each): each is { name: string; pid: number } => isOwnProcess(each.pid, localDir));
  await stopProcesses(
    left.map(({ pid }) => pid),
    { mark: localDir, politeMs },
  );
  fs.rmSync(dir, { recursive: true, force: true });
  return left.map(({ name }) => name);
}

/** Sends SIGTERM, then SIGKILL after `politeMs`, to the processes with this mark. */
export async function stopProcesses(pids: number[], how: { mark: string; politeMs: number }): Promise<void> {
  const alive = () => pids.filter((pid) => isOwnProcess(pid, how.mark));
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
    // The process has just ended.
  }
}
