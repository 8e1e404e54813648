import { prepareAndRun } from './prepare.mjs';

await prepareAndRun('demo', {
  command: 'npm run demo',
  usage: `npm run demo
Runs a purchase step by step: deposit, purchase, provider, signed webhook, balance. It uses the running
copy of npm start, or starts one and stops it at the end. On a running copy it then makes more purchases, a
bill, webhooks and a payout, so that the console has something to show. The only option is --help.

  LOCAL_DIR=.local     the folder of the copy`,
  options: {},
});
