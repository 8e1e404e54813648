/** Calls from a benchmark to its processes over the IPC channel. */
import type { ChildProcess } from 'node:child_process';

interface Answer {
  answer?: unknown;
  failure?: string;
}

/**
 * Runs in the helper process. Reports readiness and responds to each call with the result of
 * `handle`.
 */
export function answerCalls(handle: (input: never) => Promise<unknown>): void {
  hearCalls(handle);
  // Keeps the process alive until its parent exits or stops it.
  process.channel?.ref();
  process.send?.({ ready: true });
}

/** Like `answerCalls`, for service processes that report readiness themselves. */
export function hearCalls(handle: (input: never) => Promise<unknown>): void {
  process.on('message', (input) => {
    handle(input as never).then(
      (answer) => process.send?.({ answer } satisfies Answer),
      (error: unknown) => {
        const failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
        process.send?.({ failure } satisfies Answer);
      },
    );
  });
}

/**
 * Runs in the benchmark. Makes one call at a time.
 * @throws Error with the error of the process, or if the process has exited.
 */
export function call<Out>(child: ChildProcess, input: object): Promise<Out> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error('the process has ended'));
    child.once('exit', ended);
    child.once('message', ({ answer, failure }: Answer) => {
      child.off('exit', ended);
      if (failure === undefined) {
        resolve(answer as Out);
      } else {
        reject(new Error(failure));
      }
    });
    child.send(input);
  });
}
