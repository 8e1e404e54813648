/** npm test: the whole suite, from a fresh clone. */
import { prepareAndRun } from './prepare.mjs';
import { usage } from './test/usage.mjs';

await prepareAndRun('test', { development: true, usage });
