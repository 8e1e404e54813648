/**
 * Waits for `work`, but not for ever. What it waited for goes on: this is for what may run beside its own repeat.
 * @param late Makes the error that is thrown once the time is over.
 */
export async function withTimeout<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
