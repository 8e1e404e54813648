/**
 * `npm run topup -- <command>`: the operator's command line. Each file in scripts/topup/ registers its commands by
 * a function; they parse and print, and the service's own code (src/) does the work.
 */
import { Command, CommanderError } from 'commander';
import { registerAccount } from './topup/account.js';
import { registerCase } from './topup/case.js';
import { registerDeposit } from './topup/deposit.js';
import { registerDoctor } from './topup/doctor.js';
import { registerLedger } from './topup/ledger.js';
import { registerOperator } from './topup/operator.js';
import { registerProviders } from './topup/providers.js';
import { registerReview } from './topup/review.js';
import { registerSettlement } from './topup/settlement.js';
import { registerPurchase } from './topup/transaction.js';
import { registerWebhooks } from './topup/webhooks.js';

const registrations = [
  registerAccount,
  registerDeposit,
  registerSettlement,
  registerPurchase,
  registerCase,
  registerReview,
  registerProviders,
  registerLedger,
  registerOperator,
  registerDoctor,
  registerWebhooks,
];

async function main(): Promise<void> {
  const program = new Command('topup')
    .description('Operate a top-up service: accounts, money, cases, health.')
    .showHelpAfterError('(add --help to any command to see how it is used)')
    .exitOverride()
    .addHelpText(
      'after',
      `
Finds the running copy by LOCAL_DIR (default .local), where npm start leaves demo.json, or by MONGODB_URI and
REDIS_URL. Every command takes --json. Exit codes: 0 done, 1 not done or a check failed, 2 wrong usage.

Start here:
  topup doctor                          is everything well, and what to do if not
  topup account list                    who is there
  topup transaction show <id>           what became of a purchase
  topup ledger verify                   does every rupiah add up`,
    );
  registrations.forEach((register) => register(program));
  if (process.argv.length <= 2) {
    program.outputHelp();
    return;
  }
  await program.parseAsync();
}

/** `topup … | head` closes our output early; that is no error. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

main().catch((error: unknown) => {
  // Commander has printed what was wrong; help that was asked for has exit code 0.
  const asked = error instanceof CommanderError && error.exitCode === 0 && error.code !== 'commander.help';
  process.exitCode = asked ? 0 : 2;
  if (!(error instanceof CommanderError)) {
    console.error(error);
    process.exitCode = 1;
  }
});
