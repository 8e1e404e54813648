/** npm run reset: empties LOCAL_DIR. */
import { prepareAndRun } from './prepare.mjs';

await prepareAndRun('reset');
