import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import type { Document } from 'mongodb';
import { apiClient, uniqueRef } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { startStack, type Stack } from '../support/stack.js';
import { topup, topupProcess, type CliResult } from '../support/topup.js';

describe('topup', () => {
  let stack: Stack;

  before(async () => {
    stack = await startStack({ workers: ['all'], env: { DEPOSIT_MODE: 'confirm' } });
  });
  after(() => stack.stop());

  const run = (args: string[]): Promise<CliResult> => topup(args, stack.env);
  /** Runs the command in its own process, for tests that use stdin or concurrent commands. */
  const runAlone = (args: string[], input?: string) => topupProcess(args, stack.env, input);
  const newName = () => `t-${randomUUID().slice(0, 12)}`;
  async function newBuyer(): Promise<{ username: string; id: string; key: string }> {
    const username = newName();
    const created = await run(['account', 'create', username, '--role', 'buyer', '--json']);
    const { id, api_key: key } = created.json<{ id: string; api_key: string }>();
    return { username, id, key };
  }
  const auditOf = (id: string) =>
    stack.db.collection('audit').find({ 'subject.id': id }).sort({ at: 1 }).toArray();

  it('--help needs no database and exits with 0', async () => {
    for (const args of [['--help'], ['account', 'create', '--help'], ['ledger', 'verify', '--help']]) {
      const { code, stdout } = await topupProcess(args, { PATH: process.env['PATH'] });
      expect(code).to.equal(0);
      expect(stdout).to.include('topup');
    }
    expect((await topupProcess(['account', 'create', '--help'], {})).stdout).to.include('Examples:');
  });

  it('exits with 2 on wrong usage and explains it', async () => {
    for (const args of [
      ['no-such-command'],
      ['account'],
      ['account', 'create', 'some-name'],
      ['account', 'create', 'some-name', '--role', 'boss'],
      ['account', 'suspend', 'some-name'],
      ['key', 'rotate', 'some-name', '--overlap', '1441'],
      ['account', 'create', 'NOT VALID', '--role', 'buyer'],
    ]) {
      const { code, stdout, stderr } = await run(args);
      expect(code, args.join(' ')).to.equal(2);
      expect(stdout + stderr).to.not.equal('');
    }
  });

  it("revokes the links of an account's reports or of one report, audited", async () => {
    const { username, id } = await newBuyer();
    const all = await run(['account', 'revoke-links', username, '--reason', 'posted in a group']);
    expect(all.code).to.equal(0);
    const one = await run(['account', 'revoke-links', username, '--report', 'no-report', '--reason', 'x']);
    expect(one.code).to.equal(1);
    expect(one.stderr).to.include('no-report');
    const [, entry, ...more] = await auditOf(id);
    expect(more).to.deep.equal([]);
    expect(entry).to.include({ action: 'account.revoke-links', reason: 'posted in a group' });
  });

  it('exits with 2 if no service is found, and says how to name one', async () => {
    const { code, stderr } = await topupProcess(['account', 'list'], { LOCAL_DIR: '/nonexistent' });
    expect(code).to.equal(2);
    expect(stderr).to.include('npm start').and.to.include('MONGODB_URI');
  });

  it('creates, suspends and resumes an account, each audited', async () => {
    const { username, id, key } = await newBuyer();
    const client = apiClient(stack.baseUrl, key);
    expect((await client.post('/api/buyer/balance')).status).to.equal(200);

    expect((await run(['account', 'suspend', username, '--reason', 'a test'])).code).to.equal(0);
    await eventually('it is suspended', async () => (await client.post('/api/buyer/balance')).status === 403);
    const again = await run(['account', 'suspend', username, '--reason', 'twice', '--json']);
    expect(again.json()).to.include({ changed: false });

    expect((await run(['account', 'resume', username, '--reason', 'it was a test'])).code).to.equal(0);
    await eventually('it has access', async () => (await client.post('/api/buyer/balance')).status === 200);

    const audit = await auditOf(id);
    expect(audit.map((each) => each['action'])).to.deep.equal([
      'account.create',
      'account.suspend',
      'account.resume',
    ]);
    expect(audit[1]).to.deep.include({
      before: { status: 'active' },
      after: { status: 'suspended' },
      reason: 'a test',
    });
    expect(audit[1]?.['actor']).to.match(/^cli:/);
    expect(JSON.stringify(audit)).to.not.include(key);
  });

  it('exits with 1 for a username that is taken', async () => {
    const { username } = await newBuyer();
    const { code, stdout } = await run(['account', 'create', username, '--role', 'buyer', '--json']);
    expect(code).to.equal(1);
    expect(JSON.parse(stdout)).to.have.property('error').that.includes('taken');
  });

  it('never shows a key or a secret in account show', async () => {
    const { username, key } = await newBuyer();
    for (const args of [
      ['account', 'show', username],
      ['account', 'show', username, '--json'],
    ]) {
      const { code, stdout } = await run(args);
      expect(code).to.equal(0);
      expect(stdout)
        .to.not.include(key)
        .and.to.not.match(/whsec_|Sealed/);
    }
  });

  it('credits a pending deposit once on repeated confirmation and notifies the account', async () => {
    const username = newName();
    const hook = `${stack.inbox.url}/hooks/${username}`;
    const created = await run([
      'account',
      'create',
      username,
      '--role',
      'buyer',
      '--webhook-url',
      hook,
      '--json',
    ]);
    const client = apiClient(stack.baseUrl, created.json<{ api_key: string }>().api_key);
    const refId = uniqueRef();
    const asked = await client.post('/api/buyer/deposit', { amount: 75_000, ref_id: refId });
    expect(asked.body.data.balance_after).to.equal(0);

    const listed = (await run(['deposit', 'list', '--account', username, '--json'])).json<Document[]>();
    expect(listed).to.have.length(1);
    const id = String(listed[0]?.['id']);
    const confirm = () => runAlone(['deposit', 'confirm', id, '--reason', 'seen on the statement', '--json']);
    const both = await Promise.all([confirm(), confirm()]);
    expect(both.map((each) => each.code)).to.deep.equal([0, 0]);
    expect(both.filter((each) => each.json()['changed'] === true)).to.have.length(1);
    expect((await client.post('/api/buyer/balance')).body.data.balance).to.equal(75_000);
    expect((await auditOf(id)).map((each) => each['action'])).to.deep.equal(['deposit.confirm']);
    const message = await stack.inbox.waitFor((each) => each.raw.includes(refId));
    expect(JSON.parse(message.raw)).to.have.property('event', 'deposit.completed');
    expect(
      (await run(['deposit', 'list', '--account', username, '--json'])).json<Document[]>(),
    ).to.deep.equal([]);
  });

  it('exits with 1 for an unknown deposit, case or transaction', async () => {
    for (const args of [
      ['deposit', 'confirm', 'none', '--reason', 'x'],
      ['case', 'resolve', 'none', '--reason', 'x'],
      ['transaction', 'show', 'none'],
    ]) {
      expect((await run(args)).code, args.join(' ')).to.equal(1);
    }
  });

  it('shows the timeline of a purchase by its id and by ref_id', async () => {
    const accounts = await stack.seed();
    const buyer = apiClient(stack.baseUrl, accounts['buyer']?.api_key ?? '');
    await buyer.post('/api/buyer/deposit', { amount: 100_000, ref_id: uniqueRef() });
    const [deposit] = (await run(['deposit', 'list', '--account', 'buyer', '--json'])).json<
      { id: string }[]
    >();
    await run(['deposit', 'confirm', deposit?.id ?? '', '--reason', 'a test']);
    const refId = uniqueRef();
    const bought = await buyer.post('/api/buyer/transaction', {
      code: 'S10',
      customer_number: '081234561230',
      ref_id: refId,
    });
    const id = String(bought.body.data.transaction_id);
    await stack.inbox.waitFor((each) => each.raw.includes(id) && each.raw.includes('transaction.success'));

    const story = await eventually('the timeline has the delivery', async () => {
      const found = await run(['transaction', 'show', id, '--json']);
      const { timeline } = found.json<{ timeline: { what: string; detail: string }[] }>();
      return timeline.some((each) => each.what === 'delivery') ? timeline : null;
    });
    const details = story.map((each) => each.detail);
    expect(story[0]?.detail).to.include('PENDING: accepted').and.to.include(refId);
    expect(details.some((each) => each.startsWith('purchase: wallet:buyer -'))).to.equal(true);
    expect(details.some((each) => /attempt 1 at seller\d? .* OK/.test(each))).to.equal(true);
    expect(details.some((each) => each.startsWith('SUCCESS'))).to.equal(true);

    const byRef = await run(['transaction', 'show', refId, '--account', 'buyer']);
    expect(byRef.code).to.equal(0);
    expect(byRef.stdout).to.include(id).and.to.include('What happened');
  });

  it('lists purchases by account, state, product, price and days', async () => {
    await stack.seed();
    const { username, key } = await newBuyer();
    const client = apiClient(stack.baseUrl, key);
    const order = { code: 'S10', customer_number: '081234560000' };
    const ids: string[] = [];
    await client.post('/api/buyer/deposit', { amount: 100_000, ref_id: uniqueRef() });
    const [deposit] = (await run(['deposit', 'list', '--account', username, '--json'])).json<Document[]>();
    await run(['deposit', 'confirm', String(deposit?.['id']), '--reason', 'a test']);
    for (const code of ['S10', 'S20']) {
      const { body } = await client.post('/api/buyer/transaction', { ...order, code, ref_id: uniqueRef() });
      ids.push(String(body.data.transaction_id));
    }
    const list = async (...by: string[]) =>
      (await run(['transaction', 'list', '--account', username, ...by, '--json'])).json<Document[]>();
    const [newest, oldest] = await list();
    expect([newest?.['id'], oldest?.['id']]).to.deep.equal(ids.toReversed());
    expect(oldest).to.include({ account: username, product: 'S10', customer: '081234560000' });
    const price = Number(oldest?.['price']);
    const fitting = async (...by: string[]) => (await list(...by)).map(({ id }) => String(id));
    expect(await fitting('--product', 'S20')).to.deep.equal([ids[1]]);
    expect(await fitting('--price-to', String(price))).to.deep.equal([ids[0]]);
    expect(await fitting('--to', '2020-01-01')).to.deep.equal([]);
    expect(await fitting('--limit', '1')).to.deep.equal([ids[1]]);
    const text = await run(['transaction', 'list', '--account', username]);
    expect(text.stdout).to.include(ids[0]).and.to.include('customer');
    expect((await run(['transaction', 'list', '--account', newName()])).code).to.equal(1);
  });

  it('lists a case and closes it once, with a reason', async () => {
    const open = randomUUID().replaceAll('-', '');
    const cases = stack.db.collection('cases');
    const base = { detail: 'made by a test', createdAt: new Date(), resolvedAt: null };
    await cases.insertOne({ ...base, _id: open as never, transactionId: open, kind: 'contradicting-answer' });

    const listed = (await run(['case', 'list', '--json'])).json<{ id: string }[]>();
    expect(listed.map((each) => each.id)).to.include(open);
    const resolve = (id: string) => run(['case', 'resolve', id, '--reason', 'looked into it', '--json']);
    expect((await resolve(open)).json()).to.include({ changed: true });
    expect((await resolve(open)).json()).to.include({ changed: false });
    expect((await auditOf(open))[0]).to.include({ action: 'case.resolve', reason: 'looked into it' });
  });

  it('doctor passes on a running stack and names a missing index with advice', async () => {
    await stack.seed();
    const well = await run(['doctor', '--json']);
    const { checks } = well.json<{ checks: { name: string; status: string; detail: string }[] }>();
    expect(checks.filter((each) => each.status === 'fail')).to.deep.equal([]);
    expect(well.code).to.equal(0);
    expect(checks.find((each) => each.name === 'queue fulfilment')?.detail).to.include('1 worker');

    await stack.db.collection('journals').dropIndex('account_subject_kind_unique');
    const ill = await run(['doctor']);
    await stack.db
      .collection('journals')
      .createIndex(
        { accountId: 1, subjectId: 1, kind: 1 },
        { unique: true, name: 'account_subject_kind_unique' },
        {},
      );
    expect(ill.code).to.equal(1);
    expect(ill.stdout).to.include('journals.account_subject_kind_unique').and.to.include('migrate');
  });

  it('doctor reports unavailable databases', async () => {
    const env = { ...stack.env, MONGODB_URI: 'mongodb://127.0.0.1:1/x', REDIS_URL: 'redis://127.0.0.1:1' };
    const { code, stdout } = await topupProcess(['doctor'], env);
    expect(code).to.equal(1);
    expect(stdout).to.include('MongoDB').and.to.include('Redis').and.to.include('does not respond');
  });

  it('manages operators without a password on the command line', async () => {
    const username = newName();
    const made = await run(['operator', 'create', username, '--role', 'viewer', '--json']);
    expect(made.json<{ password: string }>().password).to.have.length.of.at.least(20);
    const given = await runAlone(
      ['operator', 'password', username, '--password-stdin'],
      'correct horse battery\n',
    );
    expect(given.code).to.equal(0);
    expect(given.stdout).to.not.include('correct horse');
    expect((await runAlone(['operator', 'password', username, '--password-stdin'], 'short\n')).code).to.equal(
      1,
    );
    const [stored] = await stack.db.collection('operators').find({ username }).toArray();
    expect(stored?.['passwordHash']).to.match(/^\$argon2id\$/);
    expect((await run(['operator', 'remove', username, '--reason', 'left'])).code).to.equal(0);
    const names = (await run(['operator', 'list', '--json'])).json<{ username: string }[]>();
    expect(names.map((each) => each.username)).to.not.include(username);
  });
});
