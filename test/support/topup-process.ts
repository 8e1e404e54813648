/** Runs many operator commands one by one in the same process, which saves process starts. */
import { runTopup } from '../../scripts/topup/program.js';

process.on('message', (args: string[]) => {
  void runCommand(args);
});

async function runCommand(args: string[]): Promise<void> {
  const written = { stdout: '', stderr: '' };
  const { stdout, stderr } = process;
  const originals = { stdout: stdout.write.bind(stdout), stderr: stderr.write.bind(stderr) };
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
    stdout.write = originals.stdout;
    stderr.write = originals.stderr;
  }
  process.send?.({ code: process.exitCode, ...written });
}
