/** Commands that run console operations: their output and their refusals. */
import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toStored, type Deposit } from '../../src/deposits/deposit.model.js';
import { createUniqueAmount, statementOf } from '../deposits/bank/statement.js';
import { startStack, type Stack } from '../support/stack.js';
import { topup } from '../support/topup.js';

const reasonOption = ['--reason', 'ticket 812'];

describe('topup commands that run operations of the console', () => {
  let stack: Stack;
  let folder: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'topup-'));
    stack = await startStack({ workers: ['follow-up'] });
    await stack.seed();
  });
  after(async () => {
    rmSync(folder, { recursive: true });
    await stack.stop();
  });

  const run = (...args: string[]) => topup(args, stack.env);
  async function runSuccessfully(...args: string[]) {
    const result = await run(...args);
    expect(result.code, `${args.join(' ')}: ${result.stdout}${result.stderr}`).to.equal(0);
    return result;
  }

  it('set, list and remove a markup, and put a buyer into its group', async () => {
    expect((await runSuccessfully('markup', 'groups')).stdout).to.include('There is no price group.');
    const forOne = await runSuccessfully(
      'markup',
      'set',
      '--product',
      'S10',
      '--percent',
      '1.25',
      '--account',
      'buyer',
      ...reasonOption,
    );
    expect(forOne.stdout).to.equal('buyer, product S10: 1.25 %\n');
    const forGroup = await runSuccessfully(
      'markup',
      'set',
      '--all',
      '--rupiah',
      '50',
      '--group',
      'grosir',
      ...reasonOption,
    );
    expect(forGroup.stdout)
      .to.include('group grosir, all: Rp 50\n')
      .and.include('No account is in grosir yet');
    const forAll = await runSuccessfully(
      'markup',
      'set',
      '--category',
      'pulsa',
      '--rupiah',
      '0',
      '--json',
      ...reasonOption,
    );
    expect(forAll.json()).to.include({
      account: null,
      group: null,
      scope: 'subcategory',
      of: 'pulsa',
      rupiah: 0,
      percent: null,
    });
    const listed = (await runSuccessfully('markup', 'list')).stdout;
    expect(listed).to.match(/buyer +product +S10 +1\.25 %/);
    expect(listed).to.match(/all +subcategory +pulsa +Rp 0/);
    const ofBuyer = await runSuccessfully('markup', 'list', '--account', 'buyer', '--json');
    expect(ofBuyer.json<{ markups: object[] }>().markups).to.deep.equal([
      { account: 'buyer', group: null, scope: 'product', of: 'S10', percent: 1.25, rupiah: null },
    ]);
    expect((await runSuccessfully('markup', 'groups')).stdout).to.match(/grosir +0/);
    await runSuccessfully('account', 'group', 'buyer', 'grosir', ...reasonOption);
    expect((await runSuccessfully('markup', 'groups')).stdout).to.match(/grosir +1/);
    expect((await runSuccessfully('account', 'group', 'buyer', '--none', ...reasonOption)).stdout).to.include(
      'is now in no group',
    );
    const remove = ['markup', 'remove', '--product', 'S10', '--account', 'buyer', ...reasonOption];
    await runSuccessfully(...remove);
    expect((await run(...remove)).code, 'removed twice').to.equal(1);
    const left = (await runSuccessfully('markup', 'list', '--account', 'buyer', '--json')).json();
    expect(left).to.deep.equal({ markups: [], next: null });
    const entry = await stack.db.collection('audit').findOne({ action: 'markup.remove' });
    expect(entry).to.include({ reason: 'ticket 812' });
    expect(entry?.['actor']).to.match(/^cli:/);
  });

  it('exit with 2 on invalid input and change nothing', async () => {
    const before = await stack.db.collection('markups').countDocuments();
    for (const wrong of [
      ['markup', 'set', '--all', ...reasonOption],
      ['markup', 'set', '--all', '--percent', '1', '--rupiah', '1', ...reasonOption],
      ['markup', 'set', '--all', '--percent', '1.001', ...reasonOption],
      ['markup', 'set', '--all', '--rupiah', '1'],
      ['markup', 'set', '--percent', '1', ...reasonOption],
      ['markup', 'set', '--all', '--product', 'S10', '--percent', '1', ...reasonOption],
      [
        'markup',
        'set',
        '--all',
        '--percent',
        '1',
        '--account',
        'buyer',
        '--group',
        'grosir',
        ...reasonOption,
      ],
      ['markup', 'list', '--account', 'buyer', '--group', 'grosir'],
      ['account', 'group', 'buyer', ...reasonOption],
      ['account', 'group', 'buyer', 'grosir'],
      ['account', 'group', 'buyer', 'Not A Group', ...reasonOption],
      ['account', 'group', 'buyer', 'grosir', '--none', ...reasonOption],
      ['review', 'resolve', 'x', '--as', 'failed', '--sn', '1', ...reasonOption],
      ['product', 'list', '--limit', '1001'],
      ['provider', 'accept', 'seller', '21-11-2026', ...reasonOption],
    ]) {
      const { code, stdout, stderr } = await run(...wrong);
      expect(code, `${wrong.join(' ')}: ${stdout}${stderr}`).to.equal(2);
    }
    expect(await stack.db.collection('markups').countDocuments()).to.equal(before);
  });

  it('list more rows at once than a page of the console has', async () => {
    const { products } = (await runSuccessfully('product', 'list', '--limit', '1000', '--json')).json<{
      products: { code: string; offers: unknown[] }[];
    }>();
    const stored = await stack.db.collection('products').countDocuments();
    expect(products.length).to.equal(Math.min(stored, 1_000));
    const [first] = products;
    expect((await runSuccessfully('product', 'show', first?.code ?? '')).stdout).to.include(first?.code);
  });

  it('assign a bank line to a deposit, set it aside and reopen it', async () => {
    const [amount, other] = [createUniqueAmount(), createUniqueAmount()];
    const file = join(folder, 'bank.csv');
    writeFileSync(file, statementOf({ amount, text: 'TRSF one' }, { amount: other, text: 'INTEREST' }));
    const { fingerprint } = (await runSuccessfully('deposit', 'statement', file, '--json')).json<{
      fingerprint: string;
    }>();
    await runSuccessfully('deposit', 'statement', file, '--confirm', fingerprint, ...reasonOption);
    const { lines } = (await runSuccessfully('deposit', 'lines', '--json')).json<{
      lines: { id: string; amount: number }[];
    }>();
    const idOf = (wanted: number) => lines.find((each) => each.amount === wanted)?.id ?? '';
    const account = await stack.db.collection('accounts').findOne({ username: 'buyer' });
    const deposit = `cli-${amount}`;
    await stack.db.collection<Deposit>('deposits').insertOne(
      toStored({
        _id: deposit,
        accountId: String(account?._id),
        refId: deposit,
        amount,
        status: 'pending',
        balanceBefore: 0,
        balanceAfter: 0,
        createdAt: new Date(),
        completedAt: null,
      }),
    );
    const use = () => run('deposit', 'use', idOf(amount), deposit, ...reasonOption);
    expect((await use()).stdout).to.equal('Confirmed.\n');
    expect((await use()).stdout).to.include('Nothing changed');
    expect((await runSuccessfully('deposit', 'set-aside', idOf(other), ...reasonOption)).stdout).to.equal(
      'Set aside.\n',
    );
    expect((await runSuccessfully('deposit', 'lines', '--status', 'set-aside')).stdout).to.include(
      idOf(other),
    );
    expect((await runSuccessfully('deposit', 'reopen', idOf(other), ...reasonOption)).stdout).to.equal(
      'Open again.\n',
    );
    const credited = await stack.db.collection('journals').countDocuments({ subjectId: deposit });
    expect(credited).to.equal(1);
  });

  it('pause and resume a provider, and show the routing order', async () => {
    expect((await runSuccessfully('provider', 'pause', 'seller', ...reasonOption)).stdout).to.equal(
      'seller is paused.\n',
    );
    expect((await runSuccessfully('provider', 'route', 'S10')).stdout).to.match(/seller +Rp .*paused/);
    await runSuccessfully('provider', 'resume', 'seller', ...reasonOption);
    expect((await run('provider', 'pause', 'buyer', ...reasonOption)).code, 'a buyer').to.equal(1);
  });

  it('revoke a key of an account once', async () => {
    const account = await stack.db.collection('accounts').findOne({ username: 'buyer2' });
    const key = await stack.db.collection('apiKeys').findOne({ accountId: account?._id, validUntil: null });
    const revoke = () => run('key', 'revoke', 'buyer2', String(key?._id), ...reasonOption);
    expect((await revoke()).stdout).to.include('Revoked. buyer2 has no current key now');
    expect((await revoke()).stdout).to.include('Nothing changed');
  });
});
