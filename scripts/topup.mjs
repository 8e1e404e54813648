import { prepareAndRun } from './prepare.mjs';

await prepareAndRun('topup', {
  usage: `npm run topup -- <command>
The operator's command line: accounts, money, cases, health. npm start builds it; after that, --help lists the commands.`,
  hasOwnHelp: true,
});
