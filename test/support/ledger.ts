import { expect } from 'chai';
import type { LedgerReport } from '../../src/reconciliation/ledger/ledger-report.js';
import type { Stack } from './stack.js';
import { topup } from './topup.js';

interface Line {
  account: string;
  amount: number;
}
interface Journal {
  kind: string;
  subjectId: string;
  walletId: string | null;
  walletSeq: number | null;
  balanceAfter: number | null;
  lines: Line[];
}

const journalKindsByStatus: Record<string, string[]> = {
  PENDING: ['purchase'],
  PROCESSING: ['purchase'],
  SUCCESS: ['purchase', 'success'],
  FAILED: ['purchase', 'refund'],
  REFUNDED: ['purchase', 'reversal', 'success'],
};

/**
 * Checks the money invariants on the stored documents, without using code of the service. Every
 * journal sums to 0. Every wallet equals the sum of its lines, and its sequence has no gap. Every
 * transaction has exactly the journals of its status.
 */
export async function expectLedgerToBalance({ db }: Pick<Stack, 'db'>): Promise<void> {
  const { journals, wallets, transactions } = await readInOneSnapshot(db);
  const sums = new Map<string, number>();
  for (const journal of journals) {
    expect(
      journal.lines.reduce((total, line) => total + line.amount, 0),
      `journal ${journal.kind} of ${journal.subjectId}`,
    ).to.equal(0);
    for (const line of journal.lines) {
      sums.set(line.account, (sums.get(line.account) ?? 0) + line.amount);
    }
  }
  for (const wallet of wallets) {
    const id = String(wallet._id);
    const own = journals
      .filter((each) => each.walletId === id)
      .sort((a, b) => (a.walletSeq ?? 0) - (b.walletSeq ?? 0));
    expect(
      own.map((each) => each.walletSeq),
      `sequence of wallet ${id}`,
    ).to.deep.equal(own.map((_, index) => index + 1));
    expect(wallet['seq'], `seq of wallet ${id}`).to.equal(own.length);
    expect(wallet['balance'], `balance of wallet ${id}`).to.equal(sums.get(`wallet:${id}`) ?? 0);
    expect(wallet['balance'], `last balanceAfter of wallet ${id}`).to.equal(own.at(-1)?.balanceAfter ?? 0);
    expect(wallet['held'], `held of wallet ${id}`).to.equal(sums.get(`held:${id}`) ?? 0);
  }
  for (const transaction of transactions) {
    const own = journals.filter((each) => each.subjectId === String(transaction._id));
    expect(own.map((each) => each.kind).sort(), `journals of ${String(transaction._id)}`).to.deep.equal(
      journalKindsByStatus[String(transaction['status'])],
    );
    const debit = own.find((each) => each.kind === 'purchase')?.lines.find((line) => line.amount < 0);
    expect(debit?.amount, `debit of ${String(transaction._id)}`).to.equal(-transaction['price']);
  }
}

/**
 * Reads journals, wallets and transactions in one snapshot, because seller credits may still be
 * posted.
 */
export async function readInOneSnapshot(db: Stack['db']) {
  const session = db.client.startSession();
  try {
    return await session.withTransaction(
      async () => ({
        journals: (await db.collection('journals').find({}, { session }).toArray()) as unknown as Journal[],
        wallets: await db.collection('wallets').find({}, { session }).toArray(),
        transactions: await db.collection('transactions').find({}, { session }).toArray(),
      }),
      { readConcern: { level: 'snapshot' } },
    );
  } finally {
    await session.endSession();
  }
}

const verifyAttemptsMax = 3;

/** Expects that `topup ledger verify` has no findings. */
export async function expectLedgerVerified({ env }: Pick<Stack, 'env'>): Promise<void> {
  const verify = () => topup(['ledger', 'verify', '--json'], env);
  let answer = await verify();
  // If the database does not respond in time, the command asks for a rerun. That happens on a busy
  // machine.
  for (let n = 1; answer.stdout.includes('Run the command again') && n < verifyAttemptsMax; n++) {
    answer = await verify();
  }
  const report = answer.json<LedgerReport>();
  const output = `${answer.stdout.slice(0, 2_000)}${answer.stderr.slice(-2_000)}`;
  expect(report.findings, output).to.deep.equal([]);
  expect(report.ok).to.equal(true);
}
