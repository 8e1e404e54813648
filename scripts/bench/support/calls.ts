/** Calls from a benchmark to its processes over the IPC channel. */
import type { ChildProcess } from 'node:child_process';

interface CallResponse {
  answer?: unknown;
  failure?: string;
}

/**
 * Runs in the helper process. Reports readiness and responds to each call with the result of
 * `handle`.
 */
export function serveCalls(handle: (input: never) => Promise<unknown>): void {
  handleCalls(handle);
  // Keeps the process alive until its parent exits or stops it.
  process.channel?.ref();
  process.send?.({ ready: true });
}

/** Like `serveCalls`, for service processes that report readiness themselves. */
export function handleCalls(handle: (input: never) => Promise<unknown>): void {
  process.on('message', (input) => {
    handle(input as never).then(
      (answer) => process.send?.({ answer } satisfies CallResponse),
      (error: unknown) => {
        const failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
        process.send?.({ failure } satisfies CallResponse);
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
    child.once('message', ({ answer, failure }: CallResponse) => {
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
