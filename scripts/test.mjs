/** npm test: the whole suite, from a fresh clone. */
import { prepareAndRun } from './prepare.mjs';

await prepareAndRun('test', { development: true });
