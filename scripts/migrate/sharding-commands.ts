import mongoose from 'mongoose';
import { limits } from '../../config/limits.js';
import { shardKeys } from '../../src/database/sharding.js';
import { AccountModel, accounts } from '../../src/accounts/account.model.js';

interface FoundIndex {
  name?: string;
  key: Record<string, unknown>;
  unique?: boolean;
  partialFilterExpression?: object;
}

export interface ShardingPlan {
  database: string;
  /** Shard names, in the order of their account ranges. */
  shards: string[];
  /**
   * First account of each range except the first range. There is one entry fewer than in `shards`.
   */
  splits: string[];
}

/**
 * Builds the mongosh commands that shard the collections as src/database/sharding.ts defines. All
 * zones are cut at the same accounts, so that each posting writes to one shard.
 * @throws Error if a unique index does not begin with the shard key. The error names the index.
 */
export async function buildShardingCommands(plan: ShardingPlan): Promise<string[]> {
  const lines = [`sh.enableSharding(${quoteText(plan.database)})`];
  plan.shards.forEach((shard, range) => {
    lines.push(`sh.addShardToZone(${quoteText(shard)}, ${quoteText(getZoneName(plan, range))})`);
  });
  for (const [collection, key] of Object.entries(shardKeys)) {
    const indexes = await readIndexes(collection);
    refuseUnique(collection, key, indexes);
    const pattern = formatKeyPattern(key);
    if (!indexes.some((each) => !each.partialFilterExpression && beginsWith(each, key))) {
      lines.push(
        `db.getSiblingDB(${quoteText(plan.database)}).getCollection(${quoteText(collection)}).createIndex(${pattern}, {name: "shard_key"})`,
      );
    }
    const namespace = quoteText(`${plan.database}.${collection}`);
    const zones = collection === 'dailyTotals' ? buildZonesOfTotals(plan) : buildZonesByAccount(plan, key[0]);
    lines.push(
      ...zones.map(
        ({ from, to, range }) =>
          `sh.updateZoneKeyRange(${namespace}, ${from}, ${to}, ${quoteText(getZoneName(plan, range))})`,
      ),
      // Runs after the commands for zones, so that an empty collection starts with a chunk in each
      // zone.
      `sh.shardCollection(${namespace}, ${pattern})`,
    );
  }
  return lines;
}

interface ZoneRange {
  from: string;
  to: string;
  range: number;
}

function buildZonesByAccount({ shards, splits }: ShardingPlan, field: string): ZoneRange[] {
  return shards.map((_, range) => ({
    from: `{${field}: ${formatBound(splits[range - 1], 'MinKey()')}}`,
    to: `{${field}: ${formatBound(splits[range], 'MaxKey()')}}`,
    range,
  }));
}

/**
 * Totals without a slot are split by account. Slots are split by the shard whose postings use them
 * (src/money/totals/slots.ts).
 */
function buildZonesOfTotals({ shards, splits }: ShardingPlan): ZoneRange[] {
  const last = shards.length - 1;
  const slotOf = (range: number) => range * limits.totalsSlots;
  return [
    ...shards.map((_, range) => ({
      from: `{slot: null, accountId: ${formatBound(splits[range - 1], 'MinKey()')}}`,
      to: `{slot: null, accountId: ${formatBound(splits[range], 'MaxKey()')}}`,
      range,
    })),
    ...shards.map((_, range) => ({
      from: `{slot: ${slotOf(range)}, accountId: MinKey()}`,
      to:
        range === last
          ? '{slot: MaxKey(), accountId: MaxKey()}'
          : `{slot: ${slotOf(range + 1)}, accountId: MinKey()}`,
      range,
    })),
  ];
}

function getZoneName({ database }: ShardingPlan, range: number): string {
  return `${database}-accounts-${range}`;
}

function formatBound(split: string | undefined, end: string): string {
  return split === undefined ? end : quoteText(split);
}

function quoteText(value: string): string {
  return JSON.stringify(value);
}

function formatKeyPattern(key: readonly string[]): string {
  return `{${key.map((field) => `${field}: 1`).join(', ')}}`;
}

function beginsWith({ key }: FoundIndex, fields: readonly string[]): boolean {
  const own = Object.keys(key);
  return fields.every((field, position) => own[position] === field);
}

function refuseUnique(collection: string, key: readonly string[], indexes: FoundIndex[]): void {
  const wrong = indexes.filter((each) => each.unique && each.name !== '_id_' && !beginsWith(each, key));
  if (wrong.length > 0) {
    throw new Error(
      `${collection} cannot be sharded by ${key.join(', ')}: ${wrong.map(({ name }) => name).join(', ')} is unique and does ` +
        'not begin with it. Drop it first.',
    );
  }
}

async function readIndexes(collection: string): Promise<FoundIndex[]> {
  return mongoose.connection.collection(collection).indexes();
}

/**
 * Finds the accounts that split all accounts into ranges of equal size.
 * @returns The first account of each range except the first range.
 * @throws Error if there are fewer accounts than ranges.
 */
export async function findShardSplits(ranges: number): Promise<string[]> {
  const total = await AccountModel.countDocuments();
  if (total < ranges) {
    throw new Error(`${total} accounts cannot be split over ${ranges} shards.`);
  }
  const splits: string[] = [];
  for (let range = 1; range < ranges; range++) {
    const [first] = await accounts
      .find({}, { projection: { _id: 1 } })
      .sort({ _id: 1 })
      .skip(Math.floor((range * total) / ranges))
      .limit(1)
      .toArray();
    splits.push(first?._id ?? '');
  }
  return splits;
}
