import { expect } from 'chai';
import type { Document } from 'mongodb';
import { shardKeys, unsharded } from '../../src/database/sharding.js';
import { newId } from '../../src/shared/ids.js';
import { runToEnd } from '../support/run-to-end.js';
import { startStack, type Stack } from '../support/stack.js';
import '../../src/all-models.js';
import mongoose from 'mongoose';

/** The unique indexes of 0.1.0 that do not begin with an account. */
const former: [string, string, Document, Document][] = [
  ['journals', 'subject_kind_unique', { subjectId: 1, kind: 1 }, {}],
  [
    'journals',
    'wallet_seq_unique',
    { walletId: 1, walletSeq: 1 },
    { partialFilterExpression: { walletId: { $type: 'string' } } },
  ],
  ['attempts', 'transaction_n_unique', { transactionId: 1, n: 1 }, {}],
  ['attempts', 'one_open_attempt', { transactionId: 1 }, { partialFilterExpression: { open: true } }],
];

describe('the table of shard keys', () => {
  const models = mongoose.modelNames().map((name) => mongoose.model(name));

  it('has every collection once', () => {
    const known = [...Object.keys(shardKeys), ...Object.keys(unsharded)];
    expect(known).to.have.members(models.map(({ collection }) => collection.collectionName));
    expect(new Set(known).size).to.equal(known.length);
  });

  it('is what every unique index of a sharded collection begins with', () => {
    const wrong = models.flatMap(({ collection, schema }) => {
      const key = (shardKeys as Record<string, readonly string[]>)[collection.collectionName];
      return key === undefined
        ? []
        : schema
            .indexes()
            .filter(([, options]) => options.unique)
            .filter(([fields]) => key.some((field, at) => Object.keys(fields)[at] !== field))
            .map(([, { name }]) => `${collection.collectionName}.${name ?? ''}`);
    });
    expect(wrong).to.deep.equal([]);
  });
});

describe('migrating', () => {
  let stack: Stack;
  const migrate = (...args: string[]) => runToEnd('scripts/migrate.js', args, stack.env);
  const [buyer, seller, purchase, deposit] = [newId(), newId(), newId(), newId()];
  const settlement = newId();
  before(async () => {
    stack = await startStack({ web: false });
    const add = (name: string, ...rows: Document[]) => stack.db.collection(name).insertMany(rows);
    await add('transactions', { _id: purchase, accountId: buyer, refId: 'r' });
    await add('deposits', { _id: deposit, accountId: buyer, refId: 'd' });
    await add('settlements', { _id: settlement, accountId: seller, refId: null });
    await add(
      'journals',
      { _id: 'j1', kind: 'deposit', subjectId: deposit, walletId: buyer, walletSeq: 1 },
      { _id: 'j2', kind: 'purchase', subjectId: purchase, walletId: buyer, walletSeq: 2 },
      { _id: 'j3', kind: 'success', subjectId: purchase, walletId: null, walletSeq: null },
      { _id: 'j4', kind: 'settlement-completed', subjectId: settlement, walletId: null, walletSeq: null },
      { _id: 'j4b', kind: 'purchase', subjectId: settlement, walletId: seller, walletSeq: 1 },
      { _id: 'j5', kind: 'success', subjectId: 'of nothing', walletId: null, walletSeq: null },
    );
    await add('attempts', { _id: `${purchase}-1`, transactionId: purchase, n: 1, open: false });
    await add('sellerCredits', { _id: purchase, transactionId: purchase, sellerId: seller, status: 'new' });
    for (const [name, index, key, options] of former) {
      await stack.db.collection(name).createIndex(key, { unique: true, name: index, ...options }, {});
    }
  });
  after(() => stack.stop());

  const ownersOf = async (name: string) => {
    const found = await stack.db.collection(name).find().sort({ _id: 1 }).toArray();
    return found.map((each): unknown => each['accountId']);
  };
  const formerLeft = async () => {
    const all = await Promise.all(
      ['journals', 'attempts'].map((name) => stack.db.collection(name).indexes()),
    );
    const names = all.flat().map(({ name }) => name);
    return former.map(([, name]) => name).filter((name) => names.includes(name));
  };

  it('gives documents of 0.1.0 their account, and keeps its unique indexes while it may still write', async () => {
    await migrate();
    expect(await ownersOf('journals')).to.deep.equal([buyer, buyer, buyer, seller, seller, undefined]);
    expect(await ownersOf('attempts')).to.deep.equal([buyer]);
    expect(await ownersOf('sellerCredits')).to.deep.equal([buyer]);
    expect(await formerLeft()).to.have.length(former.length);
  });

  it('drops them when it finds nothing to name any more', async () => {
    await migrate();
    expect(await formerLeft()).to.deep.equal([]);
  });

  it('says how to shard: refuses while a document names nobody, or a unique index is in the way', async () => {
    await stack.seed();
    const refused = async () =>
      migrate('--sharded', '--shards', 'rs0,rs1').then(
        () => 'not refused',
        (error: unknown) => String(error),
      );
    expect(await refused()).to.include('journals: some documents name no account');
    await stack.db.collection<{ _id: string }>('journals').deleteOne({ _id: 'j5' });
    await stack.db
      .collection('transactions')
      .createIndex({ refId: 1 }, { unique: true, name: 'by_hand' }, {});
    expect(await refused()).to.include('transactions cannot be sharded by accountId: by_hand is unique');
    await stack.db.collection('transactions').dropIndex('by_hand');
    const one = await migrate('--sharded', '--shards', 'rs0').catch((error: unknown) => String(error));
    expect(one).to.include('--shards names at least two shards');
  });

  it('prints zones that cut all collections at the same accounts, in the order of the shards', async () => {
    const printed = (await migrate('--sharded', '--shards', 'rs0,rs1,rs2')).trim().split('\n');
    const database = stack.db.databaseName;
    const splits = /MONGODB_SHARD_SPLITS=(.*)$/.exec(
      printed.find((line) => line.includes('SPLITS')) ?? '',
    )?.[1];
    const [first = '', second = ''] = splits?.split(',') ?? [];
    expect(first < second, `${first} ${second}`).to.equal(true);
    for (const [collection, field] of [
      ['wallets', '_id'],
      ['transactions', 'accountId'],
      ['walletCloses', 'walletId'],
    ] as const) {
      const zone = `sh.updateZoneKeyRange("${database}.${collection}", `;
      expect(printed.filter((line) => line.startsWith(zone))).to.deep.equal([
        `${zone}{${field}: MinKey()}, {${field}: "${first}"}, "${database}-accounts-0")`,
        `${zone}{${field}: "${first}"}, {${field}: "${second}"}, "${database}-accounts-1")`,
        `${zone}{${field}: "${second}"}, {${field}: MaxKey()}, "${database}-accounts-2")`,
      ]);
    }
    expect(printed).to.include(
      `sh.updateZoneKeyRange("${database}.dailyTotals", {slot: 64, accountId: MinKey()}, {slot: 128, accountId: MinKey()}, "${database}-accounts-1")`,
    );
    expect(printed).to.include(`sh.addShardToZone("rs2", "${database}-accounts-2")`);
    expect(printed.filter((line) => line.startsWith('sh.shardCollection'))).to.have.length(
      Object.keys(shardKeys).length,
    );
    // The one that no declared index serves.
    expect(printed.filter((line) => line.includes('createIndex'))).to.deep.equal([
      `db.getSiblingDB("${database}").getCollection("dailyTotals").createIndex({slot: 1, accountId: 1}, {name: "shard_key"})`,
    ]);
  });
});
