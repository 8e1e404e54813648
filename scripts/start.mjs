import { prepareAndRun } from './prepare.mjs';

await prepareAndRun('start', {
  command: 'npm start',
  usage: `npm start [-- options]
Runs the whole service on this machine until Ctrl-C: installs the packages, builds, finds or starts MongoDB and
Redis, creates demo accounts, starts every process, and prints addresses, keys and calls to copy.

  --install-redis      install a Redis without asking, if this machine has none
  --listen <address>   listen on this address instead of 127.0.0.1, which only this machine can reach
  --help               print this and do nothing

Settings, in the environment or in .env:
  PORT=3000              the port of the service; 0 takes any free one
  LOCAL_DIR=.local       where data and logs are kept; npm run reset empties it
  MONGODB_URI, REDIS_URL databases to use instead of its own

npm run demo runs a purchase on it; npm run topup -- --help lists the operator's commands.`,
  options: { 'install-redis': { type: 'boolean' }, listen: { type: 'string' } },
});
