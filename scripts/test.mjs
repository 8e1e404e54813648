import { prepareAndRun } from './prepare.mjs';
import { usage } from './test/usage.mjs';

await prepareAndRun('test', { development: true, usage });
