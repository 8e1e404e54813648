/**
 * `npm run topup -- <command>`: the operator CLI. Each file in scripts/topup/ registers its
 * commands. The commands parse input and print results, and src/ does the work.
 */
import { runTopup } from './topup/program.js';

/** `topup … | head` closes our output before it is complete, which is not an error. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

void runTopup(process.argv.slice(2));
