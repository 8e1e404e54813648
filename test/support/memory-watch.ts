/** Measures the memory of another process. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';

const sampleEveryMs = 25;
const megabyte = 1024 * 1024;

export interface MemoryWatch {
  /** Resident memory in MB when the watch started. */
  idle: number;
  /** Returns the maximum resident memory so far, in MB. */
  peak(): number;
  /** Returns the maximum so far above idle, in MB. */
  growth(): number;
  stop(): void;
}

/** Samples the resident memory of a process until `stop()`. */
export async function watchMemory(pid: number): Promise<MemoryWatch> {
  const idle = await residentMegabytes(pid);
  const stopped = new AbortController();
  let peak = idle;
  const sampling = (async () => {
    while (!stopped.signal.aborted) {
      peak = Math.max(peak, await residentMegabytes(pid));
      await setTimeout(sampleEveryMs, undefined, { ref: false });
    }
  })();
  // Reading fails once the process has exited. The watch then ends.
  sampling.catch(() => undefined);
  return { idle, peak: () => peak, growth: () => peak - idle, stop: () => stopped.abort() };
}

async function residentMegabytes(pid: number): Promise<number> {
  if (existsSync('/proc/self/status')) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    return (Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024) / megabyte;
  }
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]);
  return (Number(stdout) * 1024) / megabyte;
}
