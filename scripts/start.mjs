/** npm start: the whole service on this machine, from a fresh clone. */
import { prepareAndRun } from './prepare.mjs';

await prepareAndRun('start');
