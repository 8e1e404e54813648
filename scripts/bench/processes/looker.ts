/** An idle process that measures the CPU cost of monitoring its event loop. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { serveCalls } from '../support/calls.js';
import { median } from '../support/rounds.js';

const restMs = 500;
const rounds = 9;

export function runLooker(): void {
  serveCalls(async ({ everyMs }: { everyMs: number }): Promise<number> => {
    const more: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const without = await usPerSecond();
      const looks = monitorEventLoopDelay({ resolution: everyMs });
      looks.enable();
      more.push((await usPerSecond()) - without);
      looks.disable();
    }
    return median(more);
  });
}

async function usPerSecond(): Promise<number> {
  const cpu = process.cpuUsage();
  await pause(restMs);
  const { user, system } = process.cpuUsage(cpu);
  return (1_000 * (user + system)) / restMs;
}
