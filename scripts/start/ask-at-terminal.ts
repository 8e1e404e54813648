import { createInterface } from 'node:readline/promises';

/**
 * Asks a yes/no question at the terminal. Enter and end of input mean no. Rejects when `stopping`
 * is aborted.
 */
export async function askAtTerminal(question: string, stopping: AbortSignal): Promise<boolean> {
  // With `terminal` set, Ctrl-C would not stop the program.
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
