/** Runs the resolvers as the scripts do, in a temporary directory with a custom PATH. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Database, DatabaseContext } from '../../scripts/databases/database.js';
import { resolveMongodb } from '../../scripts/databases/resolve-mongodb.js';
import { resolveRedis } from '../../scripts/databases/resolve-redis.js';
import { createSupervisor } from '../../scripts/supervisor/supervisor.js';

export interface Resolution {
  database: Database | null;
  /** Message of the thrown error. */
  refusal: string;
  /** Messages printed by the resolver. */
  said: string[];
  localDir: string;
  stop: () => Promise<void>;
}

/**
 * @param options.localDir Directory of an earlier resolution, to reuse its data. usualRedisUrl:
 * address of a foreign Redis; by default none.
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

/** Creates a folder for PATH with these programs: links to real ones or shell scripts. */
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
