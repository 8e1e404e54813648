/** The operator's CLI for many commands, one after the other: as it is, but for the start of a process each time. */
import { runTopup } from '../../scripts/topup/program.js';

process.on('message', (args: string[]) => {
  void obey(args);
});

async function obey(args: string[]): Promise<void> {
  const written = { stdout: '', stderr: '' };
  const originals = { stdout: process.stdout.write, stderr: process.stderr.write };
  for (const name of ['stdout', 'stderr'] as const) {
    process[name].write = (text: string | Uint8Array) => {
      written[name] += text.toString();
      return true;
    };
  }
  process.exitCode = 0;
  try {
    await runTopup(args);
  } finally {
    process.stdout.write = originals.stdout;
    process.stderr.write = originals.stderr;
  }
  process.send?.({ code: process.exitCode, ...written });
}
