/** The operator CLI: its commands and exit codes. */
import { Command, CommanderError } from 'commander';
import { registerAccount } from './account.js';
import { registerAdjust } from './adjust.js';
import { registerAudit } from './audit.js';
import { registerCase } from './case.js';
import { registerCustomer } from './customer.js';
import { registerDeposit } from './deposit.js';
import { registerDoctor } from './doctor.js';
import { registerHolidays } from './holidays.js';
import { registerAlarm } from './alarm.js';
import { registerJob } from './job.js';
import { registerKeys } from './keys.js';
import { registerLedger } from './ledger.js';
import { registerOperator } from './operator.js';
import { registerPayments } from './payment.js';
import { registerMarkup } from './markup.js';
import { registerProcess } from './process.js';
import { registerProduct } from './product.js';
import { registerProviders } from './providers.js';
import { registerReport } from './report.js';
import { registerReview } from './review.js';
import { registerSearch } from './search.js';
import { registerSettlement } from './settlement.js';
import { registerStatement } from './statement.js';
import { registerTotals } from './totals.js';
import { registerPurchase } from './transaction.js';
import { registerWebhooks } from './webhooks.js';

const registrations = [
  registerAccount,
  registerDeposit,
  registerPayments,
  registerAdjust,
  registerSettlement,
  registerHolidays,
  registerStatement,
  registerPurchase,
  registerSearch,
  registerCase,
  registerCustomer,
  registerReview,
  registerAlarm,
  registerJob,
  registerProduct,
  registerMarkup,
  registerProviders,
  registerLedger,
  registerTotals,
  registerReport,
  registerAudit,
  registerOperator,
  registerKeys,
  registerDoctor,
  registerProcess,
  registerWebhooks,
];

/** Runs one command and sets `process.exitCode`. */
export async function runTopup(args: string[]): Promise<void> {
  try {
    await parse(args);
  } catch (error) {
    // Commander has already printed the error. Help that was requested has exit code 0.
    const asked = error instanceof CommanderError && error.exitCode === 0 && error.code !== 'commander.help';
    process.exitCode = asked ? 0 : 2;
    if (!(error instanceof CommanderError)) {
      console.error(error);
      process.exitCode = 1;
    }
  }
}

/** Builds the command with all subcommands. Loads nothing of the service. */
export function topupProgram(): Command {
  const program = new Command('topup')
    .description('Operate a top-up service: accounts, money, cases, health.')
    .showHelpAfterError('(add --help to any command to see its usage)')
    .exitOverride()
    .addHelpText(
      'after',
      `
Finds the running copy by demo.json in LOCAL_DIR (default .local), which npm start writes, or by MONGODB_URI and
REDIS_URL. Every command takes --json. Exit codes: 0 done, 1 not done or a check failed, 2 wrong usage.

Start here:
  topup doctor                          check the system and print what to do
  topup account list                    list accounts
  topup transaction show <id>           show the history of a purchase
  topup ledger verify                   check that every rupiah adds up`,
    );
  registrations.forEach((register) => register(program));
  return program;
}

async function parse(args: string[]): Promise<void> {
  const program = topupProgram();
  if (args.length === 0) {
    program.outputHelp();
    return;
  }
  await program.parseAsync(args, { from: 'user' });
}
