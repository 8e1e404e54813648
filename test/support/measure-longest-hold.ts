import { readFileSync } from 'node:fs';

/**
 * Returns the longest time for which the work blocks the event loop, in milliseconds of the main
 * thread's CPU time. This excludes other threads and other load on the machine. The shortest of the
 * runs counts, because garbage collection extends single runs. Linux only.
 */
export async function measureLongestHoldMs(work: () => Promise<unknown>, { runs = 3 } = {}): Promise<number> {
  const longest: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    longest.push(await measureLongestTurnMs(work));
  }
  return Math.min(...longest);
}

async function measureLongestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let before = getCpuMs();
  const look = () => {
    const at = getCpuMs();
    longest = Math.max(longest, at - before);
    before = at;
  };
  let next = setImmediate(function turn() {
    look();
    next = setImmediate(turn);
  });
  try {
    await work();
    look();
  } finally {
    clearImmediate(next);
  }
  return longest;
}

/** Returns the main thread's CPU time since the process started, in milliseconds. */
function getCpuMs(): number {
  const schedule = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8');
  return Number(schedule.split(' ')[0]) / 1e6;
}
