/** npm run topup -- <command>: the operator's command line. */
import { prepareAndRun } from './prepare.mjs';

await prepareAndRun('topup');
