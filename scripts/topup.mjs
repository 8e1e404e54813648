import { prepareAndRun } from './prepare.mjs';

await prepareAndRun('topup', {
  usage: `npm run topup -- <command>
The operator's command line: accounts, money, cases, health. Run npm start once to build it; then --help lists
the commands.`,
  hasOwnHelp: true,
});
