/**
 * `node dist/scripts/migrate.js`: creates collections and indexes. Run it before each release
 * (Procfile `release`). With `--sharded --shards <names>` it also prints the mongosh commands that
 * shard MongoDB by account (docs/guides/operate/scale.md), but does not run them.
 */
import '../src/all-models.js';
import { parseArgs } from 'node:util';
import mongoose from 'mongoose';
import { env } from '../config/env.js';
import { findShardSplits, buildShardingCommands } from './migrate/sharding-commands.js';
import { connectMongo, disconnectMongo } from '../src/database/mongo.js';
import { migrate } from '../src/database/migrate.js';
import { initializeTotals } from '../src/purchases/rebuild-totals.js';
import { connectRedis, disconnectRedis } from '../src/redis/connection.js';
import { requireRedisVersion } from '../src/redis/server-health.js';
import { logger } from '../src/shared/logger.js';

/**
 * Time to wait for Redis. The migration does not change Redis, and only refuses an outdated
 * version.
 */
const redisWaitMs = 1_000;

const usage = 'node dist/scripts/migrate.js [--sharded --shards <shard>,<shard>…]';

function readShards(): string[] | null {
  const { values } = parseArgs({
    options: { sharded: { type: 'boolean', default: false }, shards: { type: 'string' } },
  });
  if (!values.sharded) {
    return null;
  }
  const shards = (values.shards ?? '').split(',').filter((each) => each !== '');
  if (shards.length < 2 || new Set(shards).size < shards.length) {
    throw new Error(
      `--shards must name at least two different shards, as sh.status() prints them.\n${usage}`,
    );
  }
  return shards;
}

async function printSharding(shards: string[]): Promise<void> {
  const configuredSplits = env.MONGODB_SHARD_SPLITS;
  const splits = configuredSplits.length > 0 ? configuredSplits : await findShardSplits(shards.length);
  if (splits.length !== shards.length - 1) {
    throw new Error(
      `MONGODB_SHARD_SPLITS has ${splits.length} accounts, but ${shards.length} shards need ${shards.length - 1}.`,
    );
  }
  const database = mongoose.connection.db?.databaseName ?? '';
  const commands = await buildShardingCommands({ database, shards, splits });
  console.log(
    ['// For every process: MONGODB_SHARD_SPLITS=' + splits.join(','), '// For mongosh:', ...commands].join(
      '\n',
    ),
  );
}

/** Runs before any change, so that a refusal does not affect the release in use. */
async function refuseOldRedis(): Promise<void> {
  // The logger is silent, because the message below replaces the connection's log lines.
  logger.silent = true;
  const isThere = await connectRedis(redisWaitMs).then(
    () => true,
    () => false,
  );
  logger.silent = false;
  if (!isThere) {
    console.error(
      'Redis does not respond. The migration does not need it; each process checks its version at start.',
    );
  }
  await requireRedisVersion();
}

async function main(): Promise<void> {
  try {
    const shards = readShards();
    await connectMongo({ socketMs: 0 });
    await refuseOldRedis();
    await migrate();
    await initializeTotals();
    console.log(`${shards ? '// ' : ''}Collections and indexes are ready.`);
    if (shards) {
      await printSharding(shards);
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
  await disconnectRedis();
  await disconnectMongo();
  // An abandoned connection to Redis would keep the process alive for two seconds.
  process.exit();
}

void main();
