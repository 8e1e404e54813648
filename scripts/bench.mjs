/** npm run bench: measures this machine's share of the work, on databases of its own. */
import { prepareAndRun } from './prepare.mjs';

await prepareAndRun('bench', { development: true });
