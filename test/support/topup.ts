import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { getBuiltProgramPath } from '../../config/project-file.js';
import { forkTestProgram } from './fork-test-program.js';

const cli = getBuiltProgramPath('scripts/topup.js');

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Parses stdout as JSON. The caller names the expected type. */
  // Tests name the shape they expect.
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- see above
  json<T = Record<string, unknown>>(): T;
}

interface Host {
  process: ChildProcess;
  /** Rejects if the process exits. */
  exited: Promise<never>;
  /**
   * Settles when the previous command has ended, because a host process runs its commands one by
   * one.
   */
  last: Promise<unknown>;
}

const hosts = new WeakMap<NodeJS.ProcessEnv, Host>();

/**
 * Runs an operator command to its end. Commands with the same environment share one process and run
 * one by one, because starting a process is the main cost.
 */
export async function topup(args: string[], env: NodeJS.ProcessEnv): Promise<CliResult> {
  const host = hosts.get(env) ?? startHost(env);
  hosts.set(env, host);
  const result = host.last.then(async () => {
    const answer = once(host.process, 'message') as Promise<[Omit<CliResult, 'json'>]>;
    host.process.send(args);
    const [said] = await Promise.race([answer, host.exited]);
    return withJson(said);
  });
  host.last = result.catch(() => undefined);
  return result;
}

function startHost(env: NodeJS.ProcessEnv): Host {
  const host = forkTestProgram('test/support/topup-process', withoutColours(env));
  // The child ends with this process, so it must not keep this process alive.
  host.unref();
  host.channel?.unref();
  const exit = once(host, 'exit').then(() => {
    throw new Error('the process of the topup commands has ended');
  });
  exit.catch(() => undefined);
  return { process: host, exited: exit, last: Promise.resolve() };
}

/** Disables coloured output, which the variable CI would enable. */
function withoutColours(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, NO_COLOR: '1' };
}

/** Runs an operator command in its own process. `input` is its stdin. */
export async function topupProcess(args: string[], env: NodeJS.ProcessEnv, input = ''): Promise<CliResult> {
  const child = spawn(process.execPath, [cli, ...args], {
    env: withoutColours(env),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  // If a command exits without reading its input, the write fails because the pipe is closed.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return withJson({ code, stdout, stderr });
}

function withJson(result: Omit<CliResult, 'json'>): CliResult {
  return { ...result, json: () => JSON.parse(result.stdout) as never };
}
