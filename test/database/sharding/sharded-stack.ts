import type { Document } from 'mongodb';
import { limits } from '../../../config/limits.js';
import { formatBusinessDay } from '../../../src/shared/business-time.js';
import { startStack, type Stack } from '../../support/stack.js';
import { startStatementTap, type StatementTap } from '../../support/statement-tap.js';

export interface ShardedStack {
  stack: Stack;
  tap: StatementTap;
  /**
   * The split points, as in MONGODB_SHARD_SPLITS. The seeded buyers and sellers are in different
   * ranges.
   */
  splits: string[];
  stop(): Promise<void>;
}

/**
 * Starts a stack with MONGODB_SHARD_SPLITS and a tap that records its statements. A single database
 * is enough, because only the statements are checked. The seed and the migration are not recorded.
 */
export async function startShardedStack(options: {
  workers: string[];
  env: NodeJS.ProcessEnv;
}): Promise<ShardedStack> {
  const tap = await startStatementTap(process.env['MONGODB_URI'] ?? '');
  const env = { ...options.env, MONGODB_URI: tap.uri };
  const stack = await startStack({ web: false, env });
  await stack.seed();
  const splits = await splitsBetweenRoles(stack);
  await leaveOldSlot(stack);
  stack.env['MONGODB_SHARD_SPLITS'] = splits.join(',');
  tap.sent.splice(0);
  const [web] = await Promise.all([stack.startWeb(), stack.startWorker(...options.workers)]);
  return {
    stack: { ...stack, baseUrl: web.url },
    tap,
    splits,
    async stop() {
      await stack.stop();
      await tap.stop();
    },
  };
}

/**
 * Returns a split point wherever the role differs from that of the previous account. The first
 * range contains no account, so a statement without an account key in that range is detected.
 */
async function splitsBetweenRoles({ db }: Stack): Promise<string[]> {
  const accounts = await db
    .collection<{ _id: string; role: string }>('accounts')
    .find()
    .sort({ _id: 1 })
    .toArray();
  const changes = accounts.filter(({ role }, index) => index > 0 && accounts[index - 1]?.role !== role);
  return ['0', ...changes.map(({ _id }) => _id)];
}

/** Leaves unfolded totals of a past day, so that the folding job has work. */
async function leaveOldSlot({ db }: Stack): Promise<void> {
  const [account] = await db.collection<{ _id: string }>('accounts').find({ role: 'seller' }).toArray();
  const accountId = account?._id ?? '';
  const day = formatBusinessDay(new Date(Date.now() - 5 * 86_400_000));
  const slots = [0, limits.totalsSlots].map((slot): Document => ({
    _id: `${accountId}|${day}|${slot}` as never,
    accountId,
    day,
    slot,
    counters: { sold: { count: { SUCCESS: 0 } } },
  }));
  await db.collection('dailyTotals').insertMany(slots);
}
