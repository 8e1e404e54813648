import { expect } from 'chai';
import { shardKeys, unshardedCollections } from '../../../src/database/sharding.js';
import { runToEnd } from '../../support/run-to-end.js';
import { startStack, type Stack } from '../../support/stack.js';
import '../../../src/all-models.js';
import mongoose from 'mongoose';

describe('table of shard keys', () => {
  const models = mongoose.modelNames().map((name) => mongoose.model(name));

  it('contains every collection once', () => {
    const known = [...Object.keys(shardKeys), ...Object.keys(unshardedCollections)];
    expect(known).to.have.members(models.map(({ collection }) => collection.collectionName));
    expect(new Set(known).size).to.equal(known.length);
  });

  it('prefixes every unique index of a sharded collection', () => {
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

describe('sharded migration', () => {
  let stack: Stack;
  const migrate = (...args: string[]) => runToEnd('scripts/migrate.js', args, stack.env);
  before(async () => {
    stack = await startStack({ web: false });
  });
  after(() => stack.stop());

  it('refuses while a unique index prevents sharding', async () => {
    await stack.seed();
    const refused = async () =>
      migrate('--sharded', '--shards', 'rs0,rs1').then(
        () => 'not refused',
        (error: unknown) => String(error),
      );
    await stack.db
      .collection('transactions')
      .createIndex({ refId: 1 }, { unique: true, name: 'by_hand' }, {});
    expect(await refused()).to.include('transactions cannot be sharded by accountId: by_hand is unique');
    await stack.db.collection('transactions').dropIndex('by_hand');
    const one = await migrate('--sharded', '--shards', 'rs0').catch((error: unknown) => String(error));
    expect(one).to.include('--shards must name at least two different shards');
  });

  it('prints equal zone boundaries for all collections in shard order', async () => {
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
    // The only shard key without a declared index.
    expect(printed.filter((line) => line.includes('createIndex'))).to.deep.equal([
      `db.getSiblingDB("${database}").getCollection("dailyTotals").createIndex({slot: 1, accountId: 1}, {name: "shard_key"})`,
    ]);
  });
});
