/** A call from a bench to one of its processes, and its answer, over the channel between the two. */
import type { ChildProcess } from 'node:child_process';

interface Answer {
  answer?: unknown;
  failure?: string;
}

/** In the process: tells that it is ready, and answers each call by `handle`. */
export function answerCalls(handle: (input: never) => Promise<unknown>): void {
  hearCalls(handle);
  // Until its parent goes or stops it.
  process.channel?.ref();
  process.send?.({ ready: true });
}

/** The same for a process that tells by itself that it is ready, as those of the service do. */
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

/** In the bench. One call at a time. @throws Error with what the process said, or that it has ended. */
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
