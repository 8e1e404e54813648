import { expect } from 'chai';
import { Long, type Db, type Document } from 'mongodb';
import type { LedgerCheck, LedgerReport } from '../../src/reconciliation/ledger/ledger-report.js';
import { apiClient, uniqueRef, type ApiClient } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { startStack, type Stack } from '../support/stack.js';
import { topup, topupProcess } from '../support/topup.js';

/** What the tests corrupt: one purchase of each state, and the ids around it. */
interface Ids {
  buyerId: string;
  idleId: string;
  sellerId: string;
  success: string;
  failed: string;
  open: string;
  deposit: string;
  posting: string;
}

interface Corruption {
  what: string;
  turns: LedgerCheck[];
  corrupt: (db: Db, ids: Ids) => Promise<Restore>;
}
type Restore = () => Promise<unknown>;

/** Changes one document, and gives back what puts it as it was. */
async function change(db: Db, name: string, filter: Document, update: Document): Promise<Restore> {
  const collection = db.collection(name);
  const before = await collection.findOne(filter, { promoteLongs: false });
  if (!before) {
    throw new Error(`nothing to corrupt in ${name}: ${JSON.stringify(filter)}`);
  }
  await collection.updateOne({ _id: before['_id'] }, update);
  return () => collection.replaceOne({ _id: before['_id'] }, before);
}

async function remove(db: Db, name: string, filter: Document): Promise<Restore> {
  const collection = db.collection(name);
  const before = await collection.findOneAndDelete(filter, { promoteLongs: false });
  if (!before) {
    throw new Error(`nothing to remove in ${name}: ${JSON.stringify(filter)}`);
  }
  return () => collection.insertOne(before);
}

async function add(db: Db, name: string, document: Document): Promise<Restore> {
  const collection = db.collection(name);
  await collection.insertOne(document);
  return () => collection.deleteOne({ _id: document['_id'] });
}

const one = Long.fromNumber(1);
const journal = (subjectId: string, kind: string) => ({ subjectId, kind });

const corruptions: Corruption[] = [
  {
    what: 'a price stored as a double',
    turns: ['stored-as-int64'],
    corrupt: async (db, ids) => {
      const found = await db.collection('transactions').findOne({ _id: ids.success as never });
      return change(db, 'transactions', { _id: ids.success }, { $set: { price: Number(found?.['price']) } });
    },
  },
  {
    what: 'a journal line that is one rupiah off',
    turns: ['journal-balances', 'transaction-journals'],
    corrupt: (db, ids) =>
      change(db, 'journals', journal(ids.success, 'success'), { $inc: { 'lines.2.amount': one } }),
  },
  {
    what: 'a journal that touches a wallet it does not name',
    turns: ['journal-balances'],
    corrupt: (db, ids) =>
      change(db, 'journals', journal(ids.success, 'success'), {
        $set: { 'lines.1.account': `wallet:${ids.idleId}` },
      }),
  },
  {
    what: 'journals whose transaction is gone',
    turns: ['journal-subject', 'attempts', 'seller-credits'],
    corrupt: (db, ids) => remove(db, 'transactions', { _id: ids.success }),
  },
  {
    what: 'a journal whose deposit is gone',
    turns: ['journal-subject'],
    corrupt: (db, ids) => remove(db, 'deposits', { _id: ids.deposit }),
  },
  {
    what: 'a lost wallet journal',
    turns: ['wallet-sequence', 'wallet-balance', 'deposits'],
    corrupt: (db, ids) => remove(db, 'journals', journal(ids.deposit, 'deposit')),
  },
  {
    what: 'a wallet change without a journal',
    turns: ['wallet-sequence'],
    corrupt: (db, ids) => change(db, 'wallets', { _id: ids.buyerId }, { $inc: { seq: one } }),
  },
  {
    what: 'a wallet that went back behind its journals',
    turns: ['wallet-sequence'],
    corrupt: (db, ids) => change(db, 'wallets', { _id: ids.idleId }, { $inc: { seq: Long.fromNumber(-1) } }),
  },
  {
    what: 'a balance that is one rupiah too much',
    turns: ['wallet-balance'],
    corrupt: (db, ids) => change(db, 'wallets', { _id: ids.buyerId }, { $inc: { balance: one } }),
  },
  {
    what: 'held money that no journal explains',
    turns: ['wallet-balance'],
    corrupt: (db, ids) => change(db, 'wallets', { _id: ids.sellerId }, { $inc: { held: one } }),
  },
  {
    what: 'a journal with another balance after it',
    turns: ['wallet-balance'],
    corrupt: (db, ids) =>
      change(db, 'journals', journal(ids.open, 'purchase'), { $inc: { balanceAfter: one } }),
  },
  {
    what: 'an account without a wallet',
    turns: ['wallet-account'],
    corrupt: (db, ids) => remove(db, 'wallets', { _id: ids.idleId }),
  },
  {
    what: 'a wallet without an account',
    turns: ['wallet-account'],
    corrupt: (db) =>
      add(db, 'wallets', { _id: 'f'.repeat(32), balance: Long.ZERO, held: Long.ZERO, seq: Long.ZERO }),
  },
  {
    what: 'a success without its journal',
    turns: ['transaction-journals', 'suspense-total'],
    corrupt: (db, ids) => remove(db, 'journals', journal(ids.success, 'success')),
  },
  {
    what: 'a failure that was never refunded',
    turns: ['transaction-journals', 'wallet-sequence', 'suspense-total'],
    corrupt: (db, ids) => remove(db, 'journals', journal(ids.failed, 'refund')),
  },
  {
    what: 'a price that is not what was debited',
    turns: ['transaction-journals'],
    corrupt: (db, ids) => change(db, 'transactions', { _id: ids.failed }, { $inc: { price: one } }),
  },
  {
    what: 'a success turned into a failure',
    turns: ['transaction-journals', 'attempts', 'seller-credits'],
    corrupt: (db, ids) => change(db, 'transactions', { _id: ids.success }, { $set: { status: 'FAILED' } }),
  },
  {
    what: 'an open purchase that nobody will look at',
    turns: ['transaction-state'],
    corrupt: (db, ids) => change(db, 'transactions', { _id: ids.open }, { $set: { nextActionAt: null } }),
  },
  {
    what: 'a final purchase that still waits',
    turns: ['transaction-state'],
    corrupt: (db, ids) =>
      change(db, 'transactions', { _id: ids.failed }, { $set: { nextActionAt: new Date() } }),
  },
  {
    what: 'an attempt of a final purchase that is open again',
    turns: ['attempts'],
    corrupt: (db, ids) =>
      change(db, 'attempts', { _id: `${ids.success}-1` }, { $set: { open: true, status: 'UNKNOWN' } }),
  },
  {
    what: 'an order for more than was debited',
    turns: ['attempts'],
    corrupt: (db, ids) =>
      change(
        db,
        'attempts',
        { _id: `${ids.success}-1` },
        { $inc: { offerPrice: Long.fromNumber(1_000_000) } },
      ),
  },
  {
    what: 'a sale whose seller was never credited',
    turns: ['seller-credits'],
    corrupt: (db, ids) => remove(db, 'sellerCredits', { _id: ids.success }),
  },
  {
    what: 'a seller credit with another amount than its sale and its posting',
    turns: ['seller-credits'],
    corrupt: (db, ids) => change(db, 'sellerCredits', { _id: ids.success }, { $inc: { amount: one } }),
  },
  {
    what: 'a credit that could be posted a second time',
    turns: ['seller-credits', 'payable-total'],
    corrupt: (db, ids) =>
      change(db, 'sellerCredits', { _id: ids.success }, { $set: { status: 'new', postingId: null } }),
  },
  {
    what: 'a lost posting',
    turns: ['seller-credits', 'payable-total', 'wallet-sequence'],
    corrupt: (db, ids) => remove(db, 'journals', journal(ids.posting, 'seller-posting')),
  },
  {
    what: 'a deposit that was credited but is pending',
    turns: ['deposits'],
    corrupt: (db, ids) => change(db, 'deposits', { _id: ids.deposit }, { $set: { status: 'pending' } }),
  },
  {
    what: 'a deposit of another amount',
    turns: ['deposits'],
    corrupt: (db, ids) => change(db, 'deposits', { _id: ids.deposit }, { $inc: { amount: one } }),
  },
  {
    what: 'a payout that nobody requested',
    turns: ['journal-subject'],
    corrupt: (db, ids) =>
      add(db, 'journals', {
        _id: 'f'.repeat(32),
        kind: 'settlement-completed',
        subjectId: 'e'.repeat(32),
        walletId: ids.idleId,
        walletSeq: Long.fromNumber(2),
        balanceAfter: Long.ZERO,
        lines: [
          { account: `held:${ids.idleId}`, amount: Long.fromNumber(-60_000) },
          { account: 'platform:bank', amount: Long.fromNumber(60_000) },
        ],
        createdAt: new Date(),
      }),
  },
  {
    what: 'a settlement that holds nothing',
    turns: ['settlements'],
    corrupt: (db, ids) =>
      add(db, 'settlements', {
        _id: 'e'.repeat(32),
        accountId: ids.sellerId,
        refId: null,
        amount: Long.fromNumber(60_000),
        fee: Long.fromNumber(2_500),
        netAmount: Long.fromNumber(57_500),
        status: 'pending',
      }),
  },
  {
    what: 'a payment of a bill that somebody else claimed',
    turns: ['quotes'],
    corrupt: (db, ids) =>
      change(db, 'transactions', { _id: ids.success }, { $set: { quoteId: 'e'.repeat(32) } }),
  },
  {
    what: 'an open purchase whose debit journal is gone',
    turns: ['transaction-journals', 'suspense-total'],
    corrupt: (db, ids) => remove(db, 'journals', journal(ids.open, 'purchase')),
  },
  {
    what: 'a missing unique index',
    turns: ['unique-indexes'],
    corrupt: async (db) => {
      await db.collection('attempts').dropIndex('one_open_attempt');
      return () =>
        db
          .collection('attempts')
          .createIndex(
            { transactionId: 1 },
            { unique: true, partialFilterExpression: { open: true }, name: 'one_open_attempt' },
            {},
          );
    },
  },
];

describe('topup ledger verify', function () {
  this.timeout(120_000);
  let stack: Stack;
  let buyer: ApiClient;
  let ids: Ids;

  before(async () => {
    stack = await startStack({});
    const accounts = await stack.seed();
    buyer = apiClient(stack.baseUrl, accounts['buyer']?.api_key ?? '');
    const idle = apiClient(stack.baseUrl, accounts['buyer2']?.api_key ?? '');
    ids = await playEveryState(stack, buyer, idle);
  });
  after(() => stack.stop());

  const verify = async () => {
    const result = await topup(['ledger', 'verify', '--json'], stack.env);
    return { code: result.code, report: result.json<LedgerReport>() };
  };

  it('is green on what the service itself wrote: deposit, success, failure, open purchase, posting', async () => {
    const { code, report } = await verify();
    expect(report.findings).to.deep.equal([]);
    expect(code).to.equal(0);
    expect(report.ok).to.equal(true);
    expect(report.examined.transactions).to.equal(3);
    expect(report.totals.suspense).to.equal(report.totals.openTransactions).and.to.be.greaterThan(0);
  });

  for (const { what, turns, corrupt } of corruptions) {
    it(`goes red on ${what}`, async () => {
      const restore = await corrupt(stack.db, ids);
      const { code, report } = await verify();
      await restore();
      expect(code).to.equal(1);
      const red = report.checks.filter((each) => each.failures > 0).map((each) => each.check);
      expect(red).to.include.members(turns);
    });
  }

  it('tells a person where to look, and is green again once all is as it was', async () => {
    const restore = await change(stack.db, 'wallets', { _id: ids.buyerId }, { $inc: { balance: one } });
    const red = await topup(['ledger', 'verify'], stack.env);
    await restore();
    expect(red.code).to.equal(1);
    expect(red.stdout).to.include('NOT consistent').and.to.include(`wallet ${ids.buyerId}`);
    const green = await topupProcess(['ledger', 'verify'], stack.env);
    expect(green.stdout).to.include('Every rule holds');
    expect(green.code).to.equal(0);
  });

  it('never takes work under way for a mistake', async () => {
    await stack.startWorker('all');
    let done = false;
    const load = Promise.all(
      Array.from({ length: 60 }, () =>
        buyer.post('/api/buyer/transaction', {
          code: 'S10',
          customer_number: '081234567890',
          ref_id: uniqueRef(),
        }),
      ),
    ).then(() => (done = true));
    do {
      const { report } = await verify();
      expect(report.findings).to.deep.equal([]);
    } while (!done);
    await load;
    const { report } = await verify();
    expect(report.findings).to.deep.equal([]);
  });
});

/** One deposit, one success with its posting, one failure, and one purchase that stays open. */
async function playEveryState(stack: Stack, buyer: ApiClient, idle: ApiClient): Promise<Ids> {
  const worker = await stack.startWorker('all');
  const depositRef = uniqueRef();
  await buyer.post('/api/buyer/deposit', { amount: 10_000_000, ref_id: depositRef });
  await idle.post('/api/buyer/deposit', { amount: 50_000, ref_id: uniqueRef() });
  const success = await buy(buyer, '081234561230');
  const failed = await buy(buyer, '081234561232');
  await finalOf(stack, success, 'SUCCESS');
  await finalOf(stack, failed, 'FAILED');
  const credit = await eventually('the posting', () =>
    stack.db.collection('sellerCredits').findOne({ _id: success as never, status: 'posted' }),
  );
  await worker.stop();
  const open = await buy(buyer, '081234567890');
  const deposit = await stack.db.collection('deposits').findOne({ refId: depositRef });
  const other = await stack.db.collection('accounts').findOne({ username: 'buyer2' });
  return {
    buyerId: String(deposit?.['accountId']),
    idleId: String(other?.['_id']),
    sellerId: String(credit['sellerId']),
    success,
    failed,
    open,
    deposit: String(deposit?.['_id']),
    posting: String(credit['postingId']),
  };
}

async function buy(buyer: ApiClient, customerNumber: string): Promise<string> {
  const { status, body } = await buyer.post('/api/buyer/transaction', {
    code: 'S10',
    customer_number: customerNumber,
    ref_id: uniqueRef(),
  });
  expect(status, JSON.stringify(body)).to.equal(200);
  return String(body.data.transaction_id);
}

async function finalOf(stack: Stack, id: string, status: string): Promise<void> {
  await eventually(
    `${id} to be ${status}`,
    () => stack.db.collection('transactions').findOne({ _id: id as never, status }),
    60_000,
  );
}
