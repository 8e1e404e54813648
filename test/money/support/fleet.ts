import type { Fleet } from './book.js';
import { startCalledService, type CalledService } from './called-service.js';

export interface RunningFleet extends Fleet {
  /** Resolves when a new process has replaced every killed one. */
  complete(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts `size` processes of the service for calls of domain functions. A killed process is
 * replaced.
 */
export async function startFleet(size: number, env: NodeJS.ProcessEnv): Promise<RunningFleet> {
  const start = () => startCalledService(env);
  const processes = await Promise.all(Array.from({ length: size }, start));
  const starting = new Map<number, Promise<void>>();
  return {
    async process(number) {
      const all = processes.map((_, offset) => (number + offset) % size);
      const running = all.find((each) => !starting.has(each));
      if (running === undefined) {
        await Promise.race(starting.values());
      }
      return processes[running ?? number % size] as CalledService;
    },
    async kill(number) {
      if (!starting.has(number)) {
        const again = async () => {
          await processes[number]?.kill();
          processes[number] = await start();
          starting.delete(number);
        };
        const started = again();
        starting.set(number, started);
        await Promise.resolve();
      }
    },
    async complete() {
      await Promise.all(starting.values());
    },
    async stop() {
      await Promise.allSettled(starting.values());
      await Promise.all(processes.map((each) => each.kill()));
    },
  };
}
