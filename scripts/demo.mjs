/** npm run demo: plays the main job and shows every step. */
import { prepareAndRun } from './prepare.mjs';

await prepareAndRun('demo');
