/**
 * Runs an external program (redis-server, mongod) as a child that ends with the supervisor:
 * `node --import follow-parent.js guard.js <pid file> <command> [arguments…]`.
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { isOwnProcess, readPidFile, stopProcesses } from './pid-files.js';

const leftoverGraceMs = 3_000;

const [pidFile, command, ...args] = process.argv.slice(2);
if (pidFile === undefined || command === undefined) {
  throw new Error('usage: guard.js <pid file> <command> [arguments…]');
}

// A process that an earlier guard left behind still holds the program's port and files.
const localDir = path.resolve(path.dirname(pidFile), '..');
const leftover = readPidFile(pidFile);
if (isOwnProcess(leftover, localDir)) {
  await stopProcesses([leftover], { mark: localDir, politeMs: leftoverGraceMs });
}

const program = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
program.once('error', (error) => {
  console.error(error.message);
  process.exit(127);
});
program.once('exit', (code, signal) => {
  process.exit(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
});
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => program.kill(signal));
}
if (program.pid !== undefined) {
  writeFileSync(pidFile, String(program.pid));
}
