import { once } from 'node:events';
import { forkTestProgram } from '../../support/fork-test-program.js';
import type { Answer, Calls } from '../calls-process.js';

/** The result of a call. `silent` means that the process was killed or did not respond in time. */
export type CallOutcome<T> = Answer<T> | { ok: false; refusal: 'silent'; message: string };

type Value<N extends keyof Calls> = Awaited<ReturnType<Calls[N]>>;
type Input<N extends keyof Calls> = Parameters<Calls[N]>[0];

export interface CalledService {
  /** Calls a domain function in the process and waits as long as a patient client would. */
  call<N extends keyof Calls>(name: N, input: Input<N>, patienceMs?: number): Promise<CallOutcome<Value<N>>>;
  /**
   * Calls a function that callOrThrow succeed.
   * @throws Error that contains the refusal.
   */
  callOrThrow<N extends keyof Calls>(name: N, input: Input<N>, patienceMs?: number): Promise<Value<N>>;
  /** Kills the process. Resolves when it has exited. */
  kill(): Promise<void>;
}

/**
 * Milliseconds to wait for a response. Longer than every deadline of the service, so that only a
 * stuck or dead process is silent.
 */
const callTimeoutMaxMs = 6_000;
/** Time limit in milliseconds for preparing a test, even on a busy machine. */
export const setupTimeoutMs = 60_000;

/** Starts a process of the service that runs the functions of calls-process.ts. */
export async function startCalledService(env: NodeJS.ProcessEnv): Promise<CalledService> {
  const child = forkTestProgram('test/money/calls-process', env, { silent: true });
  const open = new Map<number, (answer: CallOutcome<never>) => void>();
  let last = 0;
  const silent = (message: string): CallOutcome<never> => ({ ok: false, refusal: 'silent', message });
  const exited = once(child, 'exit').then(() => open.forEach((end) => end(silent('it was killed'))));
  await Promise.race([
    once(child, 'message'),
    exited.then(() => {
      throw new Error('a process of the service did not start');
    }),
  ]);
  child.on('message', ({ id, answer }: { id: number; answer: CallOutcome<never> }) => open.get(id)?.(answer));

  const call: CalledService['call'] = async (name, input, patienceMs = callTimeoutMaxMs) => {
    const id = ++last;
    return new Promise((resolve) => {
      const end = (answer: CallOutcome<never>) => {
        clearTimeout(timer);
        open.delete(id);
        resolve(answer);
      };
      const timer = setTimeout(() => end(silent('no answer came')), patienceMs);
      if (child.connected) {
        open.set(id, end);
        child.send({ id, name, input });
      } else {
        end(silent('it is gone'));
      }
    });
  };
  return {
    call,
    async callOrThrow(name, input, patienceMs = setupTimeoutMs) {
      const deadlineMs = performance.now() + patienceMs;
      let answer = await call(name, input, patienceMs);
      // On a busy machine the service may time out before it writes anything, so repeat the call.
      while (!answer.ok && answer.refusal === 'nothing-written' && performance.now() < deadlineMs) {
        answer = await call(name, input, deadlineMs - performance.now());
      }
      if (!answer.ok) {
        throw new Error(`${name}: ${answer.refusal}: ${answer.message}`);
      }
      // TypeScript does not resolve the conditional type of a generic call's value, so cast it.
      return answer.value as never;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
