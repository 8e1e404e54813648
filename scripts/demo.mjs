import { prepareAndRun } from './prepare.mjs';

await prepareAndRun('demo', {
  command: 'npm run demo',
  usage: `npm run demo
Plays a purchase step by step: deposit, purchase, provider, signed webhook, balance. It uses the copy that
npm start runs, or starts one and stops it at the end. It takes no options but --help.

  LOCAL_DIR=.local     the folder of the copy that it looks for`,
  options: {},
});
