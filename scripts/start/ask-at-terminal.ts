import { createInterface } from 'node:readline/promises';

/**
 * A question to the person at the terminal, by which Enter and the end of the input mean no. Rejects when everything
 * is to stop.
 */
export async function askAtTerminal(question: string, stopping: AbortSignal): Promise<boolean> {
  // Without `terminal`, Ctrl-C stays the signal that stops everything.
  const lines = createInterface({ input: process.stdin, output: process.stdout, terminal: false });
  const closed = new Promise<string>((resolve) => {
    lines.once('close', () => {
      resolve('');
    });
  });
  try {
    const answered = lines.question(`${question} [y/N] `, { signal: stopping });
    return /^y(es)?$/i.test((await Promise.race([answered, closed])).trim());
  } finally {
    lines.close();
  }
}
