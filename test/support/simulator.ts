import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Execution } from '../../scripts/simulator/order-book.js';
import type { Settings, SettingsChange } from '../../scripts/simulator/settings.js';
import { fetchJson } from './fetch-json.js';
import { startProgram } from './start-program.js';

export interface SimulatorOptions {
  /** The secret that clients sign with. Default: `simulator-secret`. */
  secret?: string;
  /** Seed for random faults. Default: 1, so that they are the same in each run. */
  seed?: number;
  /**
   * Directory for the executions. Default: a new directory that stop() removes. Pass a directory to
   * restart with earlier executions.
   */
  dataDir?: string;
  /** The port. Default: any free port. */
  port?: number;
}

export interface RunningSimulator {
  url: string;
  port: number;
  secret: string;
  /** Returns the orders that were executed, oldest first. */
  log(filter?: { provider?: string; ref_id?: string }): Promise<Execution[]>;
  /** Changes these settings and returns all settings. */
  control(change: SettingsChange): Promise<Settings>;
  /** Stops the simulator with this signal (default: SIGTERM). Returns the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts the built provider simulator in its own process. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<RunningSimulator> {
  const { secret = 'simulator-secret', seed = 1, port = 0 } = options;
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'simulator-')));
  const args = {
    '--port': port,
    '--host': '127.0.0.1',
    '--data-dir': dataDir,
    '--secret': secret,
    '--seed': seed,
  };
  const program = await startProgram('scripts/simulator/main.js', Object.entries(args).flat().map(String));
  return {
    url: program.url,
    port: program.port,
    secret,
    log: (filter = {}) =>
      fetchJson<Execution[]>(`${program.url}/log?${new URLSearchParams(filter).toString()}`, 'GET'),
    control: (change) => fetchJson<Settings>(`${program.url}/control`, 'POST', change),
    async stop(signal) {
      const code = await program.stop(signal);
      if (options.dataDir === undefined) {
        await rm(dataDir, { recursive: true, force: true });
      }
      return code;
    },
  };
}

/** Returns the md5 `sign`. `suffix` is a ref_id, `pricelist` or `depo`. */
export function md5Sign(username: string, secret: string, suffix: string): string {
  return createHash('md5').update(`${username}${secret}${suffix}`).digest('hex');
}
