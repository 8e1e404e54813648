/**
 * A bank statement whose lines name as many pending deposits: seconds to read and to match it, and the
 * memory that this process takes in addition.
 */
import { deposits, toStored, type Deposit } from '../../src/deposits/deposit.model.js';
import { planStatement } from '../../src/deposits/bank/plan-statement.js';
import { readBankStatement } from '../../src/deposits/bank/read-bank-statement.js';
import { formatBusinessDay } from '../../src/shared/business-time.js';
import { splitIntoChunks } from '../../src/shared/collections.js';
import { newId } from '../../src/shared/ids.js';
import { runBench } from './support/bench.js';
import { numberOption } from './support/options.js';
import { printGoal, printTable, requireTrue } from './support/print.js';
import { median } from './support/rounds.js';
import { openShop } from './support/shop.js';

const secondsGoal = 5;
const mibGoal = 150;
const batchSize = 5_000;
const sampleMs = 10;
const mib = 1_048_576;

interface StatementMeasurement {
  readSeconds: number;
  matchSeconds: number;
  peakMib: number;
}

export async function benchStatement(): Promise<void> {
  const count = numberOption('LINES', 50_000);
  const rounds = numberOption('ROUNDS', 5);
  await runBench(async () => {
    const { buyers } = await openShop({ buyers: 500 });
    const bytes = await requestDeposits(
      count,
      buyers.map(({ id }) => id),
    );
    const measured: StatementMeasurement[] = [];
    for (let round = 0; round < rounds; round += 1) {
      measured.push(await measure(bytes, count));
    }
    printTable(
      ['round', 's to read', 's to match', 'MiB in addition'],
      measured.map((each, n) => [String(n + 1), each.readSeconds, each.matchSeconds, each.peakMib]),
    );
    const seconds = median(measured.map(({ readSeconds, matchSeconds }) => readSeconds + matchSeconds));
    const what = `${count} lines`;
    printGoal(what, { goal: secondsGoal, reached: seconds, unit: 's', wanted: 'at most' });
    const [first] = measured;
    printGoal(what, { goal: mibGoal, reached: first?.peakMib ?? 0, unit: 'MiB', wanted: 'at most' });
  });
}

/** Writes pending deposits and returns the statement that pays them. */
async function requestDeposits(count: number, accountIds: string[]): Promise<Buffer> {
  const day = formatBusinessDay(new Date()).split('-').reverse().join('/');
  const rows = ['Tanggal;Keterangan;Debet;Kredit'];
  const numbers = Array.from({ length: count }, (_, n) => n);
  for (const some of splitIntoChunks(numbers, batchSize)) {
    const made = some.map((n): Deposit => ({
      _id: newId(),
      accountId: accountIds[n % accountIds.length] ?? '',
      refId: `TOPUP-${100_000 + n}`,
      // Half of the deposits have one of twenty round amounts.
      amount: n % 2 ? 50_000 * (1 + (n % 20)) : 60_001 + n,
      status: 'pending',
      balanceBefore: 0,
      balanceAfter: 0,
      createdAt: new Date(),
      completedAt: null,
    }));
    await deposits.insertMany(made.map(toStored));
    for (const { refId, amount } of made) {
      rows.push(`${day};"TRSF E-BANKING CR 2711/FTSCY/WS95031 ${refId} BUDI SANTOSO";;"${amount}.00"`);
    }
  }
  return Buffer.from(rows.join('\r\n'));
}

async function measure(bytes: Buffer, count: number): Promise<StatementMeasurement> {
  const before = process.memoryUsage().rss;
  let peak = before;
  const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), sampleMs);
  const startMs = performance.now();
  const statement = await readBankStatement(bytes);
  const readMs = performance.now();
  const { lines } = await planStatement(statement);
  const endMs = performance.now();
  clearInterval(timer);
  requireTrue(lines.filter(({ match }) => match === 'referenced').length === count, 'every line is matched');
  return {
    readSeconds: (readMs - startMs) / 1_000,
    matchSeconds: (endMs - readMs) / 1_000,
    peakMib: (peak - before) / mib,
  };
}
