import { setTimeout as pause } from 'node:timers/promises';
import { createRandom } from '../../support/random.js';
import { startWorker } from './bench.js';
import { workerNames, type Pipeline, type World } from './pipelines.js';

/** A killed worker, and the time at which its replacement was ready. */
export interface Kill {
  name: string;
  at: Date;
  backAt: Date;
}

export interface Killer {
  /** Stops killing. Resolves with all kills in order. */
  stop(): Promise<Kill[]>;
}

/**
 * Kills a worker with SIGKILL at intervals and replaces it. Each type of worker is killed equally
 * often. A random choice could hit `fulfilment` three times in one phase and distort the p95 of
 * that phase.
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

/** True if work at this time may have been affected by a killed worker. */
export function isNearKill(kills: Kill[], name: string, at: Date): boolean {
  return kills.some(
    (each) =>
      each.name === name &&
      at.getTime() >= each.at.getTime() - beforeMs &&
      at.getTime() <= each.backAt.getTime() + afterMs,
  );
}

/** Time before a kill in which jobs may have been in progress, in milliseconds. */
const beforeMs = 1_000;
/** Time after a kill in which the replacement processes the backlog, in milliseconds. */
const afterMs = 3_000;
