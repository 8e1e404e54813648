import { prepareAndRun } from './prepare.mjs';

await prepareAndRun('reset', {
  command: 'npm run reset',
  usage: `npm run reset
Deletes everything that npm start has stored: databases, demo accounts and logs. The next start is a first
start. It refuses while a copy runs, and keeps files that are not its own. The only option is --help.

  LOCAL_DIR=.local     the folder that it empties`,
  options: {},
});
