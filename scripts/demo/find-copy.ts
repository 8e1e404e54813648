/** Finds the running copy of LOCAL_DIR or starts one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { projectRoot } from '../../config/project-file.js';
import { demoFilePath, readDemoFile, type DemoFile } from '../start/demo-file.js';
import { holderOf } from '../start/local-dir.js';
import { eachLine } from '../supervisor/lines.js';
import { PlainError } from '../supervisor/plain-error.js';

const healthTimeoutMs = 3_000;
/** Long, because the first start of a clone may install a database. */
const startTimeoutMs = 600_000;
const lastLinesMax = 30;

export interface FoundCopy {
  demo: DemoFile;
  /** True if the copy was already running. */
  wasRunning: boolean;
  /** Stops the copy if this process started it. */
  leave: () => Promise<void>;
}

interface Search {
  /** Aborted to end the search, which also stops a copy that is starting. */
  stopping: AbortSignal;
  say: (text: string) => void;
}

export async function findOrStartCopy(localDir: string, search: Search): Promise<FoundCopy> {
  const deadline = Date.now() + startTimeoutMs;
  let isWaiting = false;
  for (;;) {
    search.stopping.throwIfAborted();
    const demo = readDemoFile(localDir);
    if (demo !== null && (await isHealthy(demo.base_url))) {
      return { demo, wasRunning: true, leave: () => Promise.resolve() };
    }
    if (holderOf(localDir) === null || Date.now() > deadline) {
      try {
        return await startCopy(localDir, search);
      } catch (error) {
        // Another command started a copy at the same moment and was faster.
        if (holderOf(localDir) === null || Date.now() > deadline) {
          throw error;
        }
      }
    }
    if (!isWaiting) {
      isWaiting = true;
      search.say('Waiting for the copy that is starting in the other terminal …');
    }
    await setTimeout(500);
  }
}

async function isHealthy(baseUrl: string): Promise<boolean> {
  try {
    const answer = await fetch(`${baseUrl}/healthz`, { signal: AbortSignal.timeout(healthTimeoutMs) });
    return answer.ok;
  } catch {
    return false;
  }
}

/** Starts a copy. The copy stops no later than this process, because the IPC channel closes. */
async function startCopy(localDir: string, { stopping, say }: Search): Promise<FoundCopy> {
  const program = path.join(projectRoot, 'scripts/start.mjs');
  const copy = spawn(process.execPath, [program], {
    env: { ...process.env, LOCAL_DIR: localDir, PORT: process.env['PORT'] ?? '0' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true,
  });
  let lines: string[] = [];
  let talking = true;
  const take = (line: string) => {
    lines = [...lines.slice(1 - lastLinesMax), line];
    if (talking && line.includes('topup ')) {
      say(line);
    }
  };
  const { stdout, stderr } = copy;
  if (stdout === null || stderr === null) {
    throw new Error('a child without its pipes');
  }
  eachLine(stdout, take);
  eachLine(stderr, take);
  const closed = once(copy, 'close');
  const end = () => copy.kill('SIGTERM');
  stopping.addEventListener('abort', end);
  const limit = AbortSignal.timeout(startTimeoutMs);
  const ready = await Promise.race([
    once(copy, 'message', { signal: limit }).then(() => true),
    closed.then(() => false),
  ]);
  talking = false;
  stopping.removeEventListener('abort', end);
  const demo = readDemoFile(localDir);
  if (!ready || demo === null) {
    end();
    await closed;
    throw new PlainError(
      `The service did not start (${demoFilePath(localDir)} is not there):\n${lines.join('\n')}`,
    );
  }
  return {
    demo,
    wasRunning: false,
    async leave() {
      end();
      await closed;
    },
  };
}
