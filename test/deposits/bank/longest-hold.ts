import { readFileSync } from 'node:fs';

/**
 * For how long work holds the event loop, in milliseconds of computing by its thread: neither other threads nor a machine that
 * gives this one no turn add to it. The best of three, as the collector of garbage computes too. Linux only.
 */
export async function longestHoldMs(work: () => Promise<unknown>): Promise<number> {
  const longest: number[] = [];
  for (let run = 0; run < 3; run += 1) {
    longest.push(await longestTurnMs(work));
  }
  return Math.min(...longest);
}

async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let before = computedMs();
  const look = () => {
    const at = computedMs();
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

/** Of the main thread since the process began. */
function computedMs(): number {
  const schedule = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8');
  return Number(schedule.split(' ')[0]) / 1e6;
}
