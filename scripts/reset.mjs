import { prepareAndRun } from './prepare.mjs';

await prepareAndRun('reset', {
  command: 'npm run reset',
  usage: `npm run reset
Deletes what npm start has stored, so that the next start is the first: databases, demo accounts, logs. It refuses
while a copy runs, and leaves files alone that are not its own. It takes no options but --help.

  LOCAL_DIR=.local     the folder that it empties`,
  options: {},
});
