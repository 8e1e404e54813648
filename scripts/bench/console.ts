/**
 * `npm run bench -- console`: calls every GET of the operator console over sixty days of data.
 * Checks plots and sums against the journals, to the rupiah.
 */
import { addJob } from '../../src/jobs/add-job.js';
import { isOutage } from '../../src/jobs/is-outage.js';
import { closeQueues } from '../../src/jobs/queues.js';
import { migrate } from '../../src/database/migrate.js';
import { connectMongo } from '../../src/database/mongo.js';
import { connectRedis, disconnectRedis } from '../../src/redis/connection.js';
import { closeLedger } from '../../src/reconciliation/closes/close-ledger.js';
import { generateReportJob } from '../../src/reports/report-queue.js';
import { formatBusinessDay } from '../../src/shared/business-time.js';
import { seedDatabase, type Business } from './seed/seed-database.js';
import { checkLedger, runBench, startWeb, type Bench } from './support/bench.js';
import { compareWithLedger } from './support/compare-with-ledger.js';
import { logIn } from './support/console-session.js';
import { measureConsole } from './support/measure-console.js';
import { numberOption } from './support/options.js';

const waitingJobCount = 6_000;
const closeRoundsMax = 100;
const daysClosedApart = 14;

export async function benchConsole(): Promise<void> {
  const sizes = {
    purchases: numberOption('PURCHASES', 1_000_000),
    accounts: numberOption('ACCOUNTS', 20_000),
    products: numberOption('PRODUCTS', 500),
    providers: numberOption('PROVIDERS', 20),
    deliveries: numberOption('DELIVERIES', 200_000),
  };
  const calls = numberOption('CALLS', 30);
  await runBench(async (bench) => {
    await connectMongo();
    await migrate();
    await connectRedis();
    const startedMs = performance.now();
    const say = (what: string) => {
      console.log(`${((performance.now() - startedMs) / 1_000).toFixed(0).padStart(5)} s  ${what}`);
    };
    const business = await seedDatabase(bench.db, { sizes, say });
    await closeDays(business, say);
    say('every day is closed');
    await fillQueue();
    say(await countRows(bench));
    const web = await startWeb();
    const session = await logIn(web.url, business.operator);
    await measureConsole({ session, web, meter: bench.meter }, business, calls);
    await compareWithLedger(session, business);
    await session.close();
    await closeQueues();
    await disconnectRedis();
    await checkLedger();
  });
}

/**
 * Closes days as the scheduled job does, and retries after a database timeout. The first close
 * covers all earlier days at once.
 */
async function closeDays({ untilMs }: Business, say: (what: string) => void): Promise<void> {
  for (const until of [formatBusinessDay(new Date(untilMs - daysClosedApart * 86_400_000)), undefined]) {
    for (let round = 1; ; round += 1) {
      try {
        const closed = await closeLedger(until);
        say(`${closed.length} days closed`);
        break;
      } catch (error) {
        if (!isOutage(error) || round === closeRoundsMax) {
          throw error;
        }
        say(`closing again after an error: ${(error as Error).message}`);
      }
    }
  }
}

/** Adds jobs that no worker processes. Half of them are delayed. */
async function fillQueue(): Promise<void> {
  await Promise.all(
    Array.from({ length: waitingJobCount }, (_, index) =>
      addJob(
        generateReportJob,
        { reportId: `report-${index}`, accountId: `account-${index}` },
        { delayMs: index % 2 === 0 ? 0 : 3_600_000 + index },
      ),
    ),
  );
}

async function countRows({ db }: Bench): Promise<string> {
  const names = ['transactions', 'journals', 'attempts', 'deliveries', 'dailyTotals', 'audit', 'deposits'];
  const counts = await Promise.all(names.map((name) => db.collection(name).estimatedDocumentCount()));
  return names.map((name, place) => `${name} ${counts[place] ?? 0}`).join(', ');
}
