/** Runs the resolvers as the scripts do, in a temporary directory and with a custom PATH. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Database, DatabaseContext } from '../../scripts/databases/database.js';
import { resolveMongodb } from '../../scripts/databases/resolve-mongodb.js';
import { resolveRedis } from '../../scripts/databases/resolve-redis.js';
import { createSupervisor } from '../../scripts/supervisor/supervisor.js';

export interface Resolution {
  database: Database | null;
  /** Message of the error that the resolver threw. */
  refusal: string;
  /** Messages that the resolver printed. */
  said: string[];
  localDir: string;
  stop: () => Promise<void>;
}

/**
 * Runs the resolver.
 * @param options.localDir Directory of an earlier run, to reuse its data.
 * @param options.usualRedisUrl Address of a Redis that is already running on the machine. Default:
 * there is none.
 */
export async function resolve(
  kind: 'mongodb' | 'redis',
  options: {
    env?: NodeJS.ProcessEnv;
    localDir?: string;
    confirm?: DatabaseContext['confirm'];
    usualRedisUrl?: string;
  } = {},
): Promise<Resolution> {
  const localDir = options.localDir ?? fs.mkdtempSync(path.join(os.tmpdir(), 'topup-resolver-'));
  const messages: string[] = [];
  const supervisor = createSupervisor({
    localDir,
    output: {
      line: () => undefined,
      keep: () => undefined,
      say: (text) => messages.push(text),
      hush: () => undefined,
      close: () => undefined,
    },
    changed: () => undefined,
  });
  const context = {
    env: { ...options.env },
    supervisor,
    durable: true,
    ...(options.confirm && { confirm: options.confirm }),
  };
  const resolution: Resolution = {
    database: null,
    refusal: '',
    said: messages,
    localDir,
    stop: () => supervisor.stopAll(),
  };
  try {
    resolution.database = await (kind === 'redis'
      ? resolveRedis(context, options.usualRedisUrl ?? 'redis://127.0.0.1:9')
      : resolveMongodb(context));
  } catch (error) {
    resolution.refusal = error instanceof Error ? error.message : String(error);
  }
  return resolution;
}

/**
 * Creates a folder for the PATH that contains these programs, as links to real programs or as shell
 * scripts.
 */
export function pathWith(programs: Record<string, { link: string } | { script: string }>): string {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'topup-path-'));
  for (const [name, program] of Object.entries(programs)) {
    if ('link' in program) {
      fs.symlinkSync(program.link, path.join(dir, name));
    } else {
      fs.writeFileSync(path.join(dir, name), `#!/bin/sh\n${program.script}\n`, { mode: 0o755 });
    }
  }
  return dir;
}
