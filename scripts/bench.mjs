/** `npm run bench`: prepares the development databases and runs one benchmark. */
import { prepareAndRun } from './prepare.mjs';

await prepareAndRun('bench', { development: true });
