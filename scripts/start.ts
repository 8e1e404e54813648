/**
 * `npm start`: runs the whole service on this machine as separate processes, until Ctrl-C or
 * SIGTERM. scripts/start.mjs has its `--help`. LOCAL_DIR/demo.json describes the running copy.
 */
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { askAtTerminal } from './start/ask-at-terminal.js';
import { banner } from './start/banner.js';
import { removeDemoFile, writeDemoFile } from './start/demo-file.js';
import { lockLocalDir, localDirOf, unlockLocalDir } from './start/local-dir.js';
import { runService, type RunningService } from './start/run-service.js';
import { webPort } from './start/web-port.js';
import { createOutput } from './supervisor/output.js';
import { stopLeftovers } from './supervisor/pid-files.js';
import { PlainError } from './supervisor/plain-error.js';
import { createSupervisor, type Supervisor } from './supervisor/supervisor.js';
import { onStopRequest } from './supervisor/on-stop-request.js';

const leftoverGraceMs = 10_000;

async function main(): Promise<void> {
  if (fs.existsSync('.env')) {
    process.loadEnvFile('.env');
  }
  const localDir = localDirOf(process.env);
  lockLocalDir(localDir);
  removeDemoFile(localDir);
  const output = createOutput(path.join(localDir, 'logs'));
  let running: RunningService | null = null;
  let failure: unknown = null;
  let exitCode = 0;
  const supervisor = createSupervisor({ localDir, output, changed: () => publish(running, supervisor) });
  onStopRequest((reason, code) => {
    output.say(`${reason}: stopping …`);
    if (running === null) {
      exitCode = code;
      // Further output would hide that line. The log files still receive it.
      output.hush();
    }
    void supervisor.stopAll();
  });
  try {
    const left = await stopLeftovers(localDir, leftoverGraceMs);
    if (left.length > 0) {
      output.say(`An earlier copy did not stop cleanly; stopped its remaining processes: ${left.join(', ')}`);
    }
    const port = await webPort(process.env);
    running = await runService({ ...startOptions(supervisor), port, supervisor });
    publish(running, supervisor);
    announce(running, supervisor);
    await waitForStop(supervisor);
  } catch (error) {
    // Failures that stopping causes do not count.
    failure = supervisor.stopping.aborted ? null : error;
  }
  await supervisor.stopAll();
  removeDemoFile(localDir);
  unlockLocalDir(localDir);
  output.say('Stopped.');
  output.close();
  if (failure !== null) {
    report(failure);
  }
  // An aborted download or installation may keep this process alive.
  process.exit(failure === null ? exitCode : 1);
}

/**
 * Options of the run. A missing Redis is installed only with `--install-redis`, or with consent at
 * the terminal.
 */
function startOptions({ stopping }: Supervisor): Pick<Parameters<typeof runService>[0], 'env' | 'confirm'> {
  const args = readArguments();
  const isAtTerminal = process.stdin.isTTY && process.stdout.isTTY;
  return {
    env: {
      ...process.env,
      ...(args['install-redis'] && { INSTALL_REDIS: '1' }),
      ...(args.listen !== undefined && { LISTEN_ADDRESS: args.listen }),
    },
    ...(isAtTerminal && { confirm: (question) => askAtTerminal(question, stopping) }),
  };
}

/** scripts/start.mjs has already refused other arguments. */
function readArguments() {
  const options = { 'install-redis': { type: 'boolean' }, listen: { type: 'string' } } as const;
  return parseArgs({ options }).values;
}

function publish(running: RunningService | null, supervisor: Supervisor): void {
  if (running === null || supervisor.stopping.aborted) {
    return;
  }
  const processes = supervisor.processes().filter(({ tier }) => tier !== 'database');
  writeDemoFile(supervisor.localDir, {
    ...running.facts,
    processes: Object.fromEntries(processes.map(({ name, pid, port }) => [name, { pid, port }])),
  });
}

function announce(running: RunningService, { localDir }: Supervisor): void {
  const { facts, mongodb, redis, address, hasNewPassword } = running;
  const databases = { mongodb: mongodb.used, redis: redis.used };
  console.log(banner({ demo: { ...facts, processes: {} }, databases, localDir, address, hasNewPassword }));
  process.send?.({ ready: true });
}

async function waitForStop({ stopping }: Supervisor): Promise<void> {
  if (!stopping.aborted) {
    await once(stopping, 'abort');
  }
}

function report(error: unknown): void {
  console.error(error instanceof PlainError ? `\n${error.message}\n` : error);
}

main().catch((error: unknown) => {
  report(error);
  process.exit(1);
});
