import { expect } from 'chai';
import { Redis } from 'ioredis';
import type { Diagnosis } from '../../src/doctor/diagnosis.js';
import { eventually } from '../support/eventually.js';
import { startStack, type Stack } from '../support/stack.js';
import { topup } from '../support/topup.js';

describe('topup doctor and providers', () => {
  let stack: Stack;
  let redis: Redis;
  let sellerId: string;
  before(async () => {
    stack = await startStack({ web: false });
    await stack.seed();
    redis = new Redis(stack.env['REDIS_URL'] ?? '');
    const seller = await stack.db.collection<{ _id: string }>('accounts').findOne({ username: 'seller' });
    sellerId = seller?._id ?? '';
  });
  after(async () => {
    redis.disconnect();
    await stack.stop();
  });

  const checkOf = async (name: string): Promise<Diagnosis | undefined> =>
    (await topup(['doctor', '--json'], stack.env))
      .json<{ checks: Diagnosis[] }>()
      .checks.find((each) => each.name === name);

  it('reports an open circuit with advice until the circuit is closed', async () => {
    expect(await checkOf('circuit of seller')).to.equal(undefined);
    const key = `${stack.env['QUEUE_PREFIX']}:circuit:{${sellerId}}:state`;
    await redis.hset(key, { state: 'open', changedAt: Date.now(), probes: 0, inRow: 0 });
    const open = await eventually('the open circuit is reported', () => checkOf('circuit of seller'));
    expect(open).to.include({ status: 'warn', detail: 'open: it gets no orders' });
    expect(open.advice).to.include('topup provider resume');
    await redis.hset(key, { changedAt: Date.now() - 60_000 });
    await eventually('the circuit is half-open', async () =>
      /^half-open/.test((await checkOf('circuit of seller'))?.detail ?? ''),
    );
    await redis.del(key);
    await eventually('no report of it', async () => (await checkOf('circuit of seller')) === undefined);
  });

  it('reports a stale float, and no float that was never reported', async () => {
    const states = stack.db.collection<{ _id: string }>('providerStates');
    const set = (floatAt: Date | null) =>
      states.updateOne({ _id: sellerId }, { $set: { floatAt } }, { upsert: true });
    await set(null);
    expect(await checkOf('float of seller')).to.equal(undefined);
    await set(new Date(Date.now() - 30 * 60_000));
    const old = await eventually('the stale float is reported', () => checkOf('float of seller'));
    expect(old.status).to.equal('warn');
    expect(old.detail).to.match(/^last reported 3\d min ago/);
    await set(new Date());
    await eventually('no report of it', async () => (await checkOf('float of seller')) === undefined);
  });
});
