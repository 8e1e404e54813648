/**
 * A long bank statement on the command line: preview, confirmation, a kill halfway, and concurrent
 * confirmations.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { DateTime } from 'luxon';
import { Long } from 'mongodb';
import { getBuiltProgramPath } from '../../../config/project-file.js';
import type { BankLine } from '../../../src/deposits/bank/bank-line.model.js';
import { newId } from '../../../src/shared/ids.js';
import { reason } from '../../console/support/console-caller.js';
import { eventually } from '../../support/eventually.js';
import { expectLedgerToBalance, expectLedgerVerified } from '../../support/ledger.js';
import { startStack, type Stack } from '../../support/stack.js';
import { topup, topupProcess, type CliResult } from '../../support/topup.js';
import { createUniqueAmount, statementOf } from './statement.js';

interface RequestedDeposit {
  id: string;
  refId: string;
  amount: number;
}

describe('a bank statement on the command line', function () {
  this.timeout(180_000);
  let stack: Stack;
  let folder: string;
  let accounts: string[];

  before(async () => {
    stack = await startStack({ web: false, env: { DEPOSIT_MODE: 'confirm' } });
    await stack.seed();
    const found = await stack.db.collection('accounts').find({ role: 'buyer' }).toArray();
    accounts = found.map(({ _id }) => String(_id));
    folder = mkdtempSync(join(tmpdir(), 'bank-statements-'));
  });
  after(async () => {
    rmSync(folder, { recursive: true });
    await stack.stop();
  });

  /** Creates `count` pending deposits and a statement file that pays them all. */
  async function statement(count: number): Promise<{ file: string; asked: RequestedDeposit[] }> {
    const asked = Array.from({ length: count }, (): RequestedDeposit => {
      const id = newId();
      return { id, refId: `dep-0${id.slice(-12)}`, amount: createUniqueAmount() };
    });
    await stack.db.collection<{ _id: string }>('deposits').insertMany(
      asked.map(({ id, refId, amount }, n) => ({
        _id: id,
        refId,
        accountId: accounts[n % accounts.length],
        status: 'pending',
        amount: Long.fromNumber(amount),
        balanceBefore: Long.ZERO,
        balanceAfter: Long.ZERO,
        createdAt: new Date(),
        completedAt: null,
      })),
    );
    const file = join(folder, `${newId()}.csv`);
    writeFileSync(
      file,
      statementOf(...asked.map(({ refId, amount }) => ({ amount, text: `TRSF ${refId}` }))),
    );
    return { file, asked };
  }
  const args = (file: string, ...more: string[]) => ['deposit', 'statement', file, '--json', ...more];
  async function fingerprintOf(file: string): Promise<string> {
    const shown = await topup(args(file), stack.env);
    expect(shown.code, outputOf(shown)).to.equal(0);
    return shown.json<{ fingerprint: string }>().fingerprint;
  }
  const confirmation = async (file: string) =>
    args(file, '--confirm', await fingerprintOf(file), '--by-reference', '--reason', reason);
  const outputOf = ({ stdout, stderr }: CliResult) => stdout + stderr;
  const done = (result: CliResult) => {
    expect(result.code, outputOf(result)).to.equal(0);
    return result.json<{ confirmed: number; stood: number; kept: number; left: unknown[] }>();
  };
  const lines = () => stack.db.collection<BankLine>('bankLines');
  const credited = (asked: RequestedDeposit[]) =>
    stack.db
      .collection('journals')
      .countDocuments({ kind: 'deposit', subjectId: { $in: asked.map(({ id }) => id) } });
  const used = (asked: RequestedDeposit[]) =>
    lines().countDocuments({ depositId: { $in: asked.map(({ id }) => id) }, status: 'used' });
  const confirmRest = (file: string, asked: RequestedDeposit[]) =>
    eventually(
      'all deposits are confirmed',
      async () => {
        const answer = await topup(await confirmation(file), stack.env);
        return answer.code === 0 || (await used(asked)) === asked.length;
      },
      60_000,
    );

  it('is previewed, confirmed only with the hash of the preview, and listed', async () => {
    const { file, asked } = await statement(2);
    const shown = await topup(['deposit', 'statement', file], stack.env);
    expect(shown.stdout).to.include("has its client's ref_id").and.to.include(asked[0]?.refId);
    const day = DateTime.now().setZone('Asia/Jakarta').toFormat('dd/MM/yyyy');
    const odd = [`${day};BIAYA ADMIN;6500;`, ';SALDO AKHIR;;', `${day};KURS;;USD 5`];
    const oddFile = join(folder, 'odd.csv');
    writeFileSync(oddFile, [readFileSync(file, 'utf8'), ...odd].join('\r\n'));
    const { stdout } = await topup(['deposit', 'statement', oddFile], stack.env);
    for (const listed of ['BIAYA ADMIN', 'SALDO AKHIR', 'Kredit: it is not in rupiah']) {
      expect(stdout).to.include(listed);
    }
    const wrong = await topup(args(file, '--confirm', 'another', '--reason', reason), stack.env);
    expect([wrong.code, outputOf(wrong).includes('Review the statement again')]).to.deep.equal([1, true]);
    const silent = await topup(args(file, '--confirm', 'x'), stack.env);
    expect([silent.code, outputOf(silent).includes('--reason')]).to.deep.equal([2, true]);
    expect(done(await topup(await confirmation(file), stack.env))).to.deep.equal({
      confirmed: 2,
      stood: 0,
      kept: 2,
      corrected: 0,
      left: [],
    });
    const amount = createUniqueAmount();
    const unknown = join(folder, 'unknown.csv');
    writeFileSync(unknown, statementOf({ amount, text: 'BUNGA' }));
    expect(done(await topup(await confirmation(unknown), stack.env))).to.include({ confirmed: 0, kept: 1 });
    const listed = await topup(['deposit', 'lines', '--json'], stack.env);
    const line = listed
      .json<{ lines: { id: string; amount: number }[] }>()
      .lines.find((each) => each.amount === amount);
    const run = (...command: string[]) => topup(['deposit', ...command, '--reason', reason], stack.env);
    const mismatch = await run('use', line?.id ?? '', asked[0]?.id ?? '');
    expect([mismatch.code, outputOf(mismatch).includes('the amount of deposit')]).to.deep.equal([1, true]);
    expect((await run('set-aside', line?.id ?? '')).stdout).to.include('Set aside');
    expect((await run('set-aside', line?.id ?? '')).stdout).to.include('Nothing changed');
  });

  it('offers the pending deposits of a line and takes the chosen reference', async () => {
    const { asked } = await statement(1);
    const [{ amount, refId, id }] = asked as [RequestedDeposit];
    const file = join(folder, 'choice.csv');
    writeFileSync(file, statementOf({ amount, text: 'SETORAN' }));
    done(await topup(await confirmation(file), stack.env));
    expect((await topup(['deposit', 'lines'], stack.env)).stdout).to.include(refId);
    const line = await lines().findOne({ amount });
    const use = ['deposit', 'use', line?._id.slice(-8) ?? '', refId, '--reason', reason];
    expect((await topup(use, stack.env)).stdout).to.include('Confirmed');
    expect((await topup(use, stack.env)).stdout).to.include('Nothing changed');
    expect(await stack.db.collection('journals').countDocuments({ subjectId: id })).to.equal(1);
  });

  it('with 10,000 lines is confirmed completely', async () => {
    const { file, asked } = await statement(10_000);
    const { confirmed, stood, kept, left } = done(await topup(await confirmation(file), stack.env));
    // A posting whose reply was lost is looked up afterwards. Its author is then unknown, so the
    // posting may be counted as `stood`.
    expect([confirmed + stood, kept, left]).to.deep.equal([asked.length, asked.length, []]);
    expect([await credited(asked), await used(asked)]).to.deep.equal([asked.length, asked.length]);
  });

  it('after a kill each credit has its line, and a repeat credits each deposit once', async () => {
    const { file, asked } = await statement(1_500);
    const command = await confirmation(file);
    const child = spawn(process.execPath, [getBuiltProgramPath('scripts/topup.js'), ...command], {
      env: stack.env,
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    await eventually('some deposits are credited', async () => (await used(asked)) > 0);
    child.kill('SIGKILL');
    await ended;
    const before = await credited(asked);
    expect(before).to.be.within(1, asked.length - 1);
    expect(await used(asked)).to.equal(before);
    const stale = await topup(command, stack.env);
    expect([stale.code, outputOf(stale).includes('Review the statement again')]).to.deep.equal([1, true]);
    // The database keeps the locks of the killed process for some seconds, so retry.
    await confirmRest(file, asked);
    expect([await credited(asked), await used(asked)]).to.deep.equal([asked.length, asked.length]);
    expect(await lines().countDocuments({ amount: { $in: asked.map(({ amount }) => amount) } })).to.equal(
      asked.length,
    );
  });

  it('concurrent and overlapping confirmations use each deposit and line once', async () => {
    const { file, asked } = await statement(300);
    const part = join(folder, 'part.csv');
    const overlapping = asked.slice(100).map(({ refId, amount }) => ({ amount, text: `TRSF ${refId}` }));
    writeFileSync(part, statementOf(...overlapping));
    const [all, some] = [await confirmation(file), await confirmation(part)];
    const answers = await Promise.all([all, all, some].map((each) => topupProcess(each, stack.env)));
    for (const each of answers) {
      // Another process may have confirmed deposits since the preview. On a busy machine a process
      // may also time out on the wallets. In both cases the command says what to do next.
      const isReported = /Review the statement again|[Rr]un the command again/.test(outputOf(each));
      expect(each.code === 0 || isReported, outputOf(each)).to.equal(true);
    }
    await confirmRest(file, asked);
    const confirmed = answers.map((each) => (each.code === 0 ? done(each).confirmed : 0));
    expect(confirmed.reduce((sum, each) => sum + each, 0)).to.be.at.most(asked.length);
    expect([await credited(asked), await used(asked)]).to.deep.equal([asked.length, asked.length]);
    expect(await lines().countDocuments({ amount: { $in: asked.map(({ amount }) => amount) } })).to.equal(
      asked.length,
    );
  });

  it('keeps the ledger consistent', async () => {
    await expectLedgerToBalance(stack);
    await expectLedgerVerified(stack);
  });
});
