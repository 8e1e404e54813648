import { setTimeout as pause } from 'node:timers/promises';
import { createRandom } from '../../support/random.js';
import { startWorker } from './bench.js';
import { workerNames, type Pipeline, type World } from './pipelines.js';

/** A worker that died, and when another one of its kind was there. */
export interface Kill {
  name: string;
  at: Date;
  backAt: Date;
}

export interface Killer {
  /** What has been killed, in that order, once no more is. */
  stop(): Promise<Kill[]>;
}

/**
 * One worker dies by SIGKILL now and then, and another of its kind takes its place. Each kind dies as often as each other: with kinds
 * by chance, one phase of a bench may lose fulfilment three times, which is what its p95 then shows, and another phase not once.
 */
export function killWorkers(
  ours: Pipeline,
  { seed, everyMs, world }: { seed: number; everyMs: number; world: World },
): Killer {
  const random = createRandom(seed);
  const stopping = new AbortController();
  const kills: Kill[] = [];
  let deck: string[] = [];
  const play = async (): Promise<Kill[]> => {
    for (;;) {
      const isOver = await pause(everyMs * (0.5 + random()), false, { signal: stopping.signal }).catch(
        () => true,
      );
      if (isOver) {
        return kills;
      }
      deck = deck.length === 0 ? [...workerNames] : deck;
      const [name = ''] = deck.splice(Math.floor(random() * deck.length), 1);
      const victim = ours.processes.find((each) => each.name === name);
      if (victim) {
        const at = new Date();
        victim.child.kill('SIGKILL');
        const another = await startWorker(name, { SIMULATOR_URL: world.simulator.url });
        ours.processes.splice(ours.processes.indexOf(victim), 1, another);
        kills.push({ name, at, backAt: new Date() });
      }
    }
  };
  const finished = play();
  return {
    stop() {
      stopping.abort();
      return finished;
    },
  };
}

/** Whether something that came at this moment may have met a worker that was gone. */
export function isBesideKill(kills: Kill[], name: string, at: Date): boolean {
  return kills.some(
    (each) =>
      each.name === name &&
      at.getTime() >= each.at.getTime() - beforeMs &&
      at.getTime() <= each.backAt.getTime() + afterMs,
  );
}

/** What was in its hands, and what had gathered when the next one came. */
const beforeMs = 1_000;
const afterMs = 3_000;
