import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Starts an external program and returns a function that stops it. */
export function startCommand(command: string, args: string[]): { stop(): Promise<void> } {
  const child = spawn(command, args, { stdio: 'ignore' });
  const ended = once(child, 'exit');
  return {
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
