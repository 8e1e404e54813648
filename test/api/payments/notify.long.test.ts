import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import type { ReconciliationCase } from '../../../src/purchases/case.model.js';
import { apiClient, uniqueRef, type ApiClient } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { expectLedgerToBalance } from '../../support/ledger.js';
import { withFault } from '../../support/mongo-faults.js';
import { startStack, type Stack } from '../../support/stack.js';
import type { RunningProgram } from '../../support/start-program.js';
import { topup } from '../../support/topup.js';

const secret = 'a-secret-of-the-bank-with-32-characters';
const path = '/internal/payments/notify';

interface Notice {
  payment_id: string;
  username: string;
  ref_id: string;
  amount: number;
}
interface Answer {
  status: number;
  body: { code: string; data: { status: string } | null; errors?: { field: string }[] };
}

describe('payment notifications', function () {
  this.timeout(90_000);
  let stack: Stack;
  let buyer: ApiClient;
  let second: RunningProgram;

  before(async () => {
    stack = await startStack({
      workers: ['webhooks'],
      env: { DEPOSIT_MODE: 'confirm', PAYMENT_NOTIFY_SECRET: secret },
    });
    const accounts = await stack.seed();
    buyer = apiClient(stack.baseUrl, accounts['buyer']?.api_key ?? '');
    second = await stack.startWeb();
  });
  after(() => stack.stop());

  const nowS = () => Math.floor(Date.now() / 1_000);

  function headersOf(raw: string, { key = secret, timestamp = String(nowS()) } = {}): Record<string, string> {
    const hex = createHmac('sha256', key).update(`${timestamp}.${raw}`).digest('hex');
    return { 'x-timestamp': timestamp, 'x-signature': `sha256=${hex}` };
  }
  async function send(
    raw: string,
    headers: Record<string, string>,
    baseUrl = stack.baseUrl,
  ): Promise<Answer> {
    const typed = { ...headers, 'content-type': 'application/json' };
    const response = await fetch(baseUrl + path, { method: 'POST', body: raw, headers: typed });
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  }
  async function notify(notice: object, baseUrl?: string): Promise<Answer> {
    const raw = JSON.stringify(notice);
    return send(raw, headersOf(raw), baseUrl);
  }
  async function createPendingDeposit(amount = 60_000): Promise<Notice> {
    const ref_id = uniqueRef();
    const { body } = await buyer.post('/api/buyer/deposit', { amount, ref_id });
    expect(body.data.status).to.equal('pending');
    return { payment_id: uniqueRef('pay'), username: 'buyer', ref_id, amount };
  }
  const depositOf = ({ ref_id }: Notice) => stack.db.collection('deposits').findOne({ refId: ref_id });
  const credits = async (notice: Notice) =>
    stack.db
      .collection('journals')
      .countDocuments({ kind: 'deposit', subjectId: String((await depositOf(notice))?._id) });
  const casesOf = ({ payment_id }: Notice) =>
    stack.db.collection<ReconciliationCase>('cases').find({ paymentId: payment_id }).toArray();
  const balance = async () => (await buyer.post('/api/buyer/balance', {})).body.data.balance as number;

  it('a matching notification credits the deposit once and notifies the account', async () => {
    const notice = await createPendingDeposit();
    const before = await balance();
    const expected = { payment_id: notice.payment_id, ref_id: notice.ref_id, status: 'completed' };
    for (let time = 0; time < 2; time++) {
      const answer = await notify(notice);
      expect(answer.status).to.equal(200);
      expect(answer.body).to.deep.equal({ status: 'success', code: '00', data: expected });
    }
    expect(await balance()).to.equal(before + notice.amount);
    await stack.inbox.waitFor(
      (each) => each.raw.includes(notice.ref_id) && each.raw.includes('deposit.completed'),
    );
    const listed = await topup(['payments', 'list', '--json'], stack.env);
    expect(listed.json<Notice[]>().find((each) => each.payment_id === notice.payment_id)).to.include({
      status: 'completed',
      username: 'buyer',
      amount: notice.amount,
    });
    const entry = await stack.db.collection('audit').findOne({ reason: `payment ${notice.payment_id}` });
    expect(entry).to.include({ actor: 'payments', action: 'deposit.confirm' });
    expect(await notify({ ...notice, amount: 1 })).to.have.property('status', 409);
  });

  it('20 concurrent duplicates in two processes credit once with equal responses', async () => {
    const notice = await createPendingDeposit();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => notify(notice, index % 2 ? second.url : stack.baseUrl)),
    );
    expect(answers.map(({ status, body }) => `${status}/${body.code}`)).to.deep.equal(
      Array(20).fill('200/00'),
    );
    expect(await credits(notice)).to.equal(1);
    expect(await casesOf(notice)).to.deep.equal([]);
  });

  it('of two concurrent payments of one deposit, one credits and one opens a case', async () => {
    const notice = await createPendingDeposit();
    const other = { ...notice, payment_id: uniqueRef('pay') };
    const answers = await Promise.all([notify(notice), notify(other, second.url)]);
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 202]);
    expect(await credits(notice)).to.equal(1);
    expect([...(await casesOf(notice)), ...(await casesOf(other))]).to.have.length(1);
  });

  const mismatches: [string, (notice: Notice) => Notice | Promise<Notice>, RegExp][] = [
    ['an unknown account', (notice) => ({ ...notice, username: 'nobody-here' }), /account does not exist/],
    ['an unknown ref_id', (notice) => ({ ...notice, ref_id: uniqueRef() }), /no deposit with this ref_id/],
    ['another amount', (notice) => ({ ...notice, amount: notice.amount + 1 }), /is 60000/],
    [
      'a completed deposit',
      async (notice) => {
        await notify(notice);
        return { ...notice, payment_id: uniqueRef('pay') };
      },
      /is already completed/,
    ],
    [
      'a rejected deposit',
      async (notice) => {
        const id = String((await depositOf(notice))?._id);
        expect((await topup(['deposit', 'reject', id, '--reason', 'x'], stack.env)).code).to.equal(0);
        return notice;
      },
      /is already rejected/,
    ],
  ];
  for (const [what, misfit, why] of mismatches) {
    it(`${what}: returns 202/05, opens one case and credits nothing`, async () => {
      const notice = await misfit(await createPendingDeposit());
      const before = await balance();
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, index) => notify(notice, index % 2 ? second.url : stack.baseUrl)),
      );
      for (const { status, body } of answers) {
        expect(status).to.equal(202);
        expect(body).to.deep.include({
          code: '05',
          data: { payment_id: notice.payment_id, ref_id: notice.ref_id, status: 'case' },
        });
      }
      const [found, ...more] = await casesOf(notice);
      expect(more).to.deep.equal([]);
      expect(found).to.include({ kind: 'unmatched-payment', transactionId: null, resolvedAt: null });
      expect(found?.detail).to.match(why);
      expect(await balance()).to.equal(before);
      const resolved = await topup(
        ['case', 'resolve', String(found?._id), '--reason', 'paid back'],
        stack.env,
      );
      expect(resolved.code).to.equal(0);
    });
  }

  it('refuses a wrong signature or timestamp with 401/07 and changes nothing', async () => {
    const notice = await createPendingDeposit();
    const raw = JSON.stringify(notice);
    const right = headersOf(raw);
    const refused: Record<string, string>[] = [
      {},
      headersOf(raw, { key: 'another-secret-of-nobody-32-characters' }),
      headersOf(raw, { timestamp: String(nowS() - 301) }),
      headersOf(raw, { timestamp: String(nowS() + 302) }),
      headersOf(raw, { timestamp: `${nowS()}.5` }),
      headersOf(`${raw} `),
      { ...right, 'x-timestamp': String(nowS() - 100) },
      { ...right, 'x-signature': right['x-signature']?.replace('sha256=', '') ?? '' },
      { ...right, 'x-signature': 'sha256=' },
      { 'x-timestamp': right['x-timestamp'] ?? '' },
      { 'x-signature': right['x-signature'] ?? '' },
    ];
    for (const headers of refused) {
      const { status, body } = await send(raw, headers);
      expect(`${status}/${body.code}`, JSON.stringify(headers)).to.equal('401/07');
    }
    expect(await depositOf(notice)).to.include({ status: 'pending' });
    expect((await send(raw, headersOf(raw, { timestamp: String(nowS() - 290) }))).status).to.equal(200);
  });

  const wrong: [string, Partial<Record<keyof Notice, unknown>>][] = [
    ['payment_id', { payment_id: '' }],
    ['payment_id', { payment_id: { $gt: '' } }],
    ['username', { username: 7 }],
    ['ref_id', { ref_id: 'a b' }],
    ['amount', { amount: '60000' }],
    ['amount', { amount: 0 }],
    ['amount', { amount: 1.5 }],
  ];
  for (const [field, change] of wrong) {
    it(`refuses ${JSON.stringify(change)} with 400/01 naming ${field}`, async () => {
      const notice = { payment_id: uniqueRef(), username: 'buyer', ref_id: uniqueRef(), amount: 60_000 };
      const { status, body } = await notify({ ...notice, ...change });
      expect(`${status}/${body.code}`).to.equal('400/01');
      expect(body.errors?.map((each) => each.field)).to.deep.equal([field]);
    });
  }

  it('refuses malformed JSON with 400 and GET with 405; without a secret 404', async () => {
    expect((await send('{', headersOf('{'))).status).to.equal(400);
    expect((await send('[]', headersOf('[]'))).status).to.equal(400);
    expect((await fetch(stack.baseUrl + path)).status).to.equal(405);
    const without = await stack.startWeb({ PAYMENT_NOTIFY_SECRET: '' });
    const answer = await notify(await createPendingDeposit(), without.url);
    expect(`${answer.status}/${answer.body.code}`).to.equal('404/02');
    await without.stop();
  });

  it('credits once when the operator confirms at the same time', async () => {
    for (let round = 0; round < 4; round++) {
      const notice = await createPendingDeposit();
      const id = String((await depositOf(notice))?._id);
      const [told, confirmed] = await Promise.all([
        notify(notice),
        topup(['deposit', 'confirm', id, '--reason', 'on the statement', '--json'], stack.env),
      ]);
      expect(confirmed.code).to.equal(0);
      const { changed } = confirmed.json<{ changed: boolean }>();
      expect(told.status).to.equal(changed ? 202 : 200);
      expect(await casesOf(notice)).to.have.length(changed ? 1 : 0);
      expect(await credits(notice)).to.equal(1);
    }
  });

  it('a rejected deposit is never credited, and a credited one is never rejected', async () => {
    const notice = await createPendingDeposit();
    const id = String((await depositOf(notice))?._id);
    const run = (...args: string[]) =>
      topup(['deposit', ...args, '--reason', 'never paid', '--json'], stack.env);
    expect((await run('reject', id)).json()).to.include({ changed: true, status: 'rejected' });
    expect((await run('reject', id)).json()).to.include({ changed: false });
    const confirm = await run('confirm', id);
    expect(confirm.code).to.equal(1);
    expect(confirm.stdout + confirm.stderr).to.include('was rejected');
    const entry = await stack.db.collection('audit').findOne({ 'subject.id': id });
    expect(entry).to.include({ action: 'deposit.reject', reason: 'never paid' });
    const listed = await topup(['deposit', 'list', '--status', 'rejected', '--json'], stack.env);
    expect(listed.json<{ id: string }[]>().map((each) => each.id)).to.include(id);
    const again = await buyer.post('/api/buyer/deposit', { amount: notice.amount, ref_id: notice.ref_id });
    expect(again.body.data.status).to.equal('rejected');
    const credited = await createPendingDeposit();
    await notify(credited);
    expect((await run('reject', String((await depositOf(credited))?._id))).code).to.equal(1);
  });

  it('credits each deposit once after a kill and repeated notifications', async () => {
    const notices = await Promise.all(Array.from({ length: 30 }, () => createPendingDeposit()));
    const victim = await stack.startWeb();
    const first = notices.map((each) => notify(each, victim.url).catch(() => null));
    await Promise.race(first);
    await victim.stop('SIGKILL');
    await Promise.all(first);
    for (const notice of notices) {
      // The database keeps the locks of the killed process for some seconds. Until they expire, the
      // service responds with 503.
      await eventually('the answer is 200', async () => (await notify(notice)).status === 200, 30_000);
      expect(await credits(notice)).to.equal(1);
    }
  });

  for (const kind of ['reply-lost', 'unlabelled-error', 'transient'] as const) {
    it(`commit fault ${kind}: credits once, and a repeat gets the same response`, async () => {
      const notice = await createPendingDeposit();
      const fault = { commands: ['commitTransaction'], kind, uri: stack.env['MONGODB_URI'] ?? '' };
      await withFault(fault, () => notify(notice));
      const answer = await eventually('the repeat succeeds', async () => {
        const reply = await notify(notice);
        return reply.status === 200 ? reply : null;
      });
      expect(answer.body.data).to.include({ status: 'completed' });
      expect(await credits(notice)).to.equal(1);
      expect(await casesOf(notice)).to.deep.equal([]);
    });
  }

  it('the ledger is consistent after all of these tests', async () => {
    await expectLedgerToBalance(stack);
    const { code, stdout } = await topup(['ledger', 'verify', '--json'], stack.env);
    expect(code, stdout).to.equal(0);
  });
});
