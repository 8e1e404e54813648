/**
 * `topup customer export` and `topup customer erase` on a complete stack with webhooks, reports and
 * Redis.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { BSON } from 'mongodb';
import { getBuiltProgramPath } from '../../config/project-file.js';
import { apiClient, uniqueRef, type ApiClient } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { expectLedgerToBalance, expectLedgerVerified } from '../support/ledger.js';
import { waitUntilAllFinal, inParallel } from '../support/purchases.js';
import { startStack, type Stack } from '../support/stack.js';
import { topup, topupProcess } from '../support/topup.js';

const number = '081298761230';
const meter = '530000451267';
const otherNumber = '081298761299';
const count = 120;
const reason = ['--reason', 'request 45, identity checked'];

describe('export and erasure of a customer number', function () {
  this.timeout(180_000);
  let stack: Stack;
  let redis: Redis;
  let buyer: ApiClient;
  const refs: string[] = [];

  before(async () => {
    stack = await startStack({ workers: ['all'] });
    redis = new Redis(stack.env['REDIS_URL'] ?? '');
    buyer = apiClient(stack.baseUrl, (await stack.seed())['buyer']?.api_key ?? '');
    const hooks = { webhook_url: `${stack.inbox.url}/hooks`, callback_url: `${stack.inbox.url}/callbacks` };
    await buyer.post('/api/buyer/api/config', { ...hooks, rate_limit: 1_000 });
    await buyer.post('/api/buyer/deposit', { amount: 50_000_000, ref_id: uniqueRef() });
    await inParallel(
      Array.from({ length: count }, (_, n) => n),
      12,
      async (n) => {
        const ref_id = uniqueRef();
        refs.push(ref_id);
        const isWallet = n % 3 === 0;
        const { status, body } = await buyer.post(
          isWallet ? '/v1/transactions' : '/api/buyer/transaction',
          isWallet
            ? { product_code: 'S10', destination: number, ref_id }
            : { code: 'S10', customer_number: number, ref_id },
        );
        expect(status, JSON.stringify(body)).to.be.oneOf([200, 201]);
      },
    );
    const other = { code: 'S10', customer_number: otherNumber, ref_id: uniqueRef() };
    expect((await buyer.post('/api/buyer/transaction', other)).status).to.equal(200);
    const bill = { code: 'TELKOM', customer_number: meter };
    expect((await buyer.post('/api/buyer/inquiry', bill)).status).to.equal(200);
    expect((await buyer.post('/api/buyer/payment', { ...bill, ref_id: uniqueRef() })).status).to.equal(200);
    expect((await buyer.post('/api/buyer/inquiry', bill)).status).to.be.oneOf([200, 409]);
    await waitUntilAllFinal(stack, 60_000);
    await nothingDue();
    await buyer.post('/api/buyer/reports', { type: 'transaction' });
  });
  after(async () => {
    redis.disconnect();
    await stack.stop();
  });

  const run = (args: string[]) => topup(['customer', ...args], stack.env);
  const nothingDue = () =>
    eventually('no webhook is due', async () => {
      const due = await stack.db.collection('deliveries').countDocuments({ state: 'due' });
      return due === 0;
    });
  const history = async () => {
    const { body } = await buyer.post('/api/buyer/transactions', { status: 'success', limit: 100 });
    return body.data;
  };

  /** Returns the collections that contain the text, and `redis` if Redis contains it. */
  async function placesOf(text: string): Promise<string[]> {
    const names = (await stack.db.listCollections().toArray()).map(({ name }) => name);
    const places = await Promise.all(
      names.map(async (name) => {
        const rows = await stack.db.collection(name).find({}, { promoteBuffers: true }).toArray();
        const inFiles = rows.some(({ data }) => Buffer.isBuffer(data) && data.includes(text));
        return inFiles || BSON.EJSON.stringify(rows).includes(text) ? [name] : [];
      }),
    );
    const keys = await redis.keys(`${stack.env['QUEUE_PREFIX'] ?? ''}*`);
    const values = await Promise.all(keys.map(async (key) => `${key} ${await valueOf(key)}`));
    return [...places.flat(), ...values.filter((each) => each.includes(text)).map(() => 'redis')].sort();
  }

  async function valueOf(key: string): Promise<string> {
    switch (await redis.type(key)) {
      case 'hash':
        return JSON.stringify(await redis.hgetall(key));
      case 'list':
        return JSON.stringify(await redis.lrange(key, 0, -1));
      case 'set':
        return JSON.stringify(await redis.smembers(key));
      case 'zset':
        return JSON.stringify(await redis.zrange(key, '0', '-1'));
      case 'stream':
        return JSON.stringify(await redis.xrange(key, '-', '+'));
      default:
        return (await redis.get(key)) ?? '';
    }
  }

  it('find the number only in the documented places', async () => {
    expect(await placesOf(number)).to.deep.equal(['deliveries', 'reportFiles.chunks', 'transactions']);
    expect(await placesOf(meter)).to.deep.equal([
      'deliveries',
      'quotes',
      'reportFiles.chunks',
      'transactions',
    ]);
  });

  it('export all purchases and bills, with an audit entry that masks the number', async () => {
    const ofPhone = await run(['export', '+6281298761230', ...reason, '--json']);
    expect(ofPhone.code, ofPhone.stdout).to.equal(0);
    const { transactions, bills } = ofPhone.json<{ transactions: { ref_id: string }[]; bills: object[] }>();
    expect(transactions.map(({ ref_id }) => ref_id)).to.have.members(refs);
    expect(bills).to.deep.equal([]);
    const ofMeter = await run(['export', meter, ...reason, '--json']);
    const [bill] = ofMeter.json<{ bills: Record<string, unknown>[] }>().bills;
    expect(bill).to.include({ customer_number: meter, code: 'TELKOM' });
    expect(bill?.['customer_name']).to.be.a('string');
    const audit = await stack.db.collection('audit').find({ action: 'customer.export' }).toArray();
    expect(audit.map(({ subject }) => subject as object)).to.deep.equal([
      { kind: 'customer', id: '**********1230' },
      { kind: 'customer', id: '********1267' },
    ]);
  });

  it('keep valid books after a kill; two later runs complete the erasure', async () => {
    const before = await history();
    const balance = (await buyer.post('/api/buyer/balance')).body.data;
    const transactions = stack.db.collection('transactions');
    const child = spawn(
      process.execPath,
      [getBuiltProgramPath('scripts/topup.js'), 'customer', 'erase', number, ...reason],
      { env: stack.env, stdio: 'ignore' },
    );
    const ended = once(child, 'exit');
    await eventually(
      'the first purchase is masked',
      async () => (await transactions.countDocuments({ customerNumber: /^\*+$/ })) > 0,
    );
    child.kill('SIGKILL');
    await ended;
    expect(await transactions.countDocuments({ customerNumber: number }), 'still unmasked').to.be.above(0);
    await expectLedgerVerified(stack);

    const both = await Promise.all([
      topupProcess(['customer', 'erase', number, ...reason], stack.env),
      topupProcess(['customer', 'erase', number, ...reason], stack.env),
    ]);
    expect(both.map(({ code }) => code)).to.deep.equal([0, 0]);
    const last = await run(['erase', number, ...reason, '--json']);
    expect(last.json()).to.deep.include({ transactions: 0, left: [] });
    expect((await run(['erase', meter, ...reason])).code).to.equal(0);

    await eventually(
      'nothing of the numbers is left',
      async () => {
        expect(await placesOf(number)).to.deep.equal([]);
        expect(await placesOf(meter)).to.deep.equal([]);
        return true;
      },
      90_000,
    );
    await expectLedgerVerified(stack);
    await expectLedgerToBalance(stack);
    expect((await buyer.post('/api/buyer/balance')).body.data).to.deep.equal(balance);
    const after = await history();
    expect(after.pagination).to.deep.equal(before.pagination);
    const withoutNumber = ({ transactions: rows }: { transactions: Record<string, unknown>[] }) =>
      rows.map(({ customer_number: _n, message: _m, ...rest }) => rest);
    expect(withoutNumber(after)).to.deep.equal(withoutNumber(before));
    const rows = (after as { transactions: Record<string, unknown>[] }).transactions;
    const words = rows.filter((row) => row['customer_number'] !== otherNumber).map((row) => row['message']);
    expect([...new Set(words)]).to.deep.equal(['Removed with the customer number.']);
    expect(await placesOf(otherNumber)).to.deep.equal(['deliveries', 'transactions']);
  });

  it('accept a repeated ref_id of an erased purchase and create no purchase', async () => {
    const ref_id = refs.find((_, n) => n % 3 !== 0) ?? '';
    const sent = await stack.db.collection('transactions').countDocuments({});
    const row = await stack.db.collection('transactions').findOne({ refId: ref_id });
    const { status, body } = await buyer.post(
      row?.['surface'] === 'wallet' ? '/v1/transactions' : '/api/buyer/transaction',
      row?.['surface'] === 'wallet'
        ? { product_code: 'S10', destination: number, ref_id }
        : { code: 'S10', customer_number: number, ref_id },
    );
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(await stack.db.collection('transactions').countDocuments({})).to.equal(sent);
  });

  it('record operator, reason, start and result in the audit log', async () => {
    const entries = await stack.db
      .collection('audit')
      .find({ action: 'customer.erase', 'subject.id': '********1230' })
      .sort({ at: 1 })
      .toArray();
    expect(entries[0]).to.deep.include({ reason: reason[1], after: { state: 'begun' } });
    expect(entries.at(-1)?.['after']).to.include({ state: 'done', purchases: 0, left: 0 });
    expect(entries.filter(({ after }) => (after as { state: string }).state === 'begun')).to.have.length(4);
  });
});
