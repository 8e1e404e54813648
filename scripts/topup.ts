/**
 * `npm run topup -- <command>`: the operator's command line. Each file in scripts/topup/ registers its commands by
 * a function; they parse and print, and the service's own code (src/) does the work.
 */
import { runTopup } from './topup/program.js';

/** `topup … | head` closes our output early; that is no error. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

void runTopup(process.argv.slice(2));
