/** Runs a test program (`*-process.ts`). test/support/fork-test-program.ts starts this process. */
import { loadBuilt } from './load-built.js';

void loadBuilt(process.env['BUILT_TESTS'] ?? '', process.argv[2] ?? '');
