/** Statements caused by operators and providers, in addition to those of clients. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toStored, type Deposit } from '../../../src/deposits/deposit.model.js';
import { newId } from '../../../src/shared/ids.js';
import { createUniqueAmount, statementOf } from '../../deposits/bank/statement.js';
import type { Stack } from '../../support/stack.js';
import { topup } from '../../support/topup.js';
import { visitConsole } from './visit-console.js';

/**
 * The allowed statements. Each value is the reason why the statement is sent to all shards or
 * crosses shards in a transaction.
 */
export interface Allowed {
  scattered: Record<string, string>;
  scatteredInTransactions: Record<string, string>;
  crossing: Record<string, string>;
}

export const allowed = JSON.parse(readFileSync('test/database/sharding/allowed.json', 'utf8')) as Allowed;

/** Operator commands: a correction, its verification, reads, and daily tasks. */
const commands = [
  ['adjust', 'buyer', '1000', '--reason', 'a correction'],
  ['doctor'],
  ['report', 'daily'],
  ['ledger', 'verify'],
  ['ledger', 'verify', '--full'],
  ['totals', 'rebuild'],
  ['review', 'list'],
  ['settlement', 'list'],
  ['settlement', 'list', '--status', 'completed'],
  ['settlement', 'list', '--status', 'completed', '--account', 'seller'],
  ['deposit', 'list'],
  ['deposit', 'list', '--status', 'all'],
  ['deposit', 'list', '--status', 'completed', '--account', 'buyer'],
  ['payments', 'list'],
  ['case', 'list'],
  ['adjust', 'list'],
];

export async function operate(stack: Stack): Promise<void> {
  const { db, env, baseUrl } = stack;
  for (const command of commands) {
    const { code, stdout, stderr } = await topup(command, env);
    if (code !== 0) {
      throw new Error(`topup ${command.join(' ')} ended with ${code ?? 'a signal'}:\n${stdout}${stderr}`);
    }
  }
  await visitConsole(stack);
  await matchBankStatement(stack);
  const purchase = await db.collection<{ _id: string; customerNumber: string }>('transactions').findOne({});
  await topup(['transaction', 'show', purchase?._id ?? ''], env);
  for (const verb of ['export', 'erase']) {
    await topup(['customer', verb, purchase?.customerNumber ?? '', '--reason', 'a request'], env);
  }
  // A callback for an unknown order is looked up and then refused.
  await fetch(`${baseUrl}/api/reseller/callback`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ ref_id: `${purchase?._id ?? ''}-9`, status: 'success', sn: '1', message: 'ok' }),
  });
}

/** Confirms a pending deposit through an imported bank statement line. */
async function matchBankStatement({ db, env }: Stack): Promise<void> {
  const account = await db.collection('accounts').findOne({ username: 'buyer' });
  const [_id, amount] = [newId(), createUniqueAmount()];
  await db.collection<Deposit>('deposits').insertOne(
    toStored({
      _id,
      accountId: String(account?._id),
      refId: `paid-${_id}`,
      amount,
      status: 'pending',
      balanceBefore: 0,
      balanceAfter: 0,
      createdAt: new Date(),
      completedAt: null,
    }),
  );
  const folder = mkdtempSync(join(tmpdir(), 'statement-'));
  const file = join(folder, 'bank.csv');
  writeFileSync(file, statementOf({ amount, text: `TRSF paid-${_id}` }));
  const statement = ['deposit', 'statement', file, '--json'];
  const { fingerprint } = (await topup(statement, env)).json<{ fingerprint: string }>();
  const confirmed = await topup([...statement, '--confirm', fingerprint, '--reason', 'paid'], env);
  rmSync(folder, { recursive: true });
  if (confirmed.json<{ confirmed: number }>().confirmed !== 1) {
    throw new Error(`The statement confirmed nothing:\n${confirmed.stdout}${confirmed.stderr}`);
  }
}

/**
 * Moves money for a buyer and several sellers concurrently in one process. Their postings could
 * share a group.
 */
export async function callConcurrently(stack: Stack): Promise<void> {
  const accounts = await stack.seed();
  const call = (username: string, path: string, body: object) =>
    fetch(`${stack.baseUrl}${path}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Authorization: `Bearer ${accounts[username]?.api_key ?? ''}`,
      },
      body: JSON.stringify(body),
    });
  const bank_account = { bank_code: '014', account_number: '1234567890', account_name: 'PT' };
  const answers = await Promise.all(
    Array.from({ length: 15 }, (_, n) => [
      call('buyer2', '/api/buyer/deposit', { amount: 50_000, ref_id: `at-once-${n}` }),
      ...['seller', 'seller3'].map((seller) =>
        call(seller, '/api/seller/settlement/request', {
          amount: 50_000,
          ref_id: `at-once-${n}`,
          bank_account,
        }),
      ),
    ]).flat(),
  );
  const odd = answers.map(({ status }) => status).filter((status) => ![200, 201, 402].includes(status));
  if (odd.length > 0) {
    throw new Error(`Concurrent deposits and settlements were answered ${odd.join(', ')}`);
  }
}
