/**
 * A verification keeps its lease for hours while it makes progress, and loses it when it stops
 * making progress.
 */
import { expect } from 'chai';
import { getLimitMs } from '../../src/jobs/define-job.js';
import {
  verifyLedgerJob,
  verifyNowJob,
  verificationMaxMs,
  verifyOnRequest,
} from '../../src/reconciliation/ledger/run-verification.js';
import { verifyLedger } from '../../src/reconciliation/ledger/verify-ledger.js';
import { ledgerVerifications } from '../../src/reconciliation/ledger/ledger-verification.model.js';
import { redis } from '../../src/redis/connection.js';
import { LeaseOverError, withLease, type HeldLease } from '../../src/redis/lease.js';
import { env } from '../../config/env.js';
import { setClock } from '../../src/shared/clock.js';
import { newId } from '../../src/shared/ids.js';
import { closeLedger } from '../../src/reconciliation/closes/close-ledger.js';
import { dayAgo, openPlay, setTime } from './closes/ledger-play.js';
import { eventually } from '../support/eventually.js';
import { useDatabase } from '../webhooks/support/database.js';

const minutes = 60_000;
/** Duration of the lease in milliseconds. The holder renews it every 20 ms. */
const leaseMs = 60;

describe('single verification at a time', () => {
  useDatabase();
  const steady = performance.now.bind(performance);
  let passedMs = 0;
  beforeEach(() => {
    performance.now = () => steady() + passedMs;
  });
  afterEach(() => {
    performance.now = steady;
    setClock(null);
  });

  /** Takes a lease. Returns the holder's handle. */
  async function take(holdMaxMs?: number) {
    const name = `test-${newId()}`;
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    let handle: HeldLease | null = null;
    const limits = holdMaxMs === undefined ? {} : { holdMaxMs };
    const work = withLease(name, leaseMs, (given) => ((handle = given), ended), limits);
    const given = await eventually('the lease is taken', () => handle);
    const key = `${env.QUEUE_PREFIX}:{lease}:${name}`;
    return { name, key, held: given, end: () => (end(), work) };
  }
  /** Waits until the holder has renewed the lease. */
  const isRenewed = async (key: string) => {
    await redis().pexpire(key, 60_000);
    await eventually('the lease is renewed', async () => (await redis().pttl(key)) <= leaseMs);
  };
  const others = (name: string) => withLease(name, leaseMs, () => Promise.resolve('taken'));

  it('progress keeps the lease beyond 15 minutes, up to its own limit', async () => {
    const { name, key, held, end } = await take(60 * minutes);
    for (let part = 0; part < 5; part += 1) {
      passedMs += 10 * minutes;
      held.goesOn();
      await isRenewed(key);
    }
    expect(await others(name)).to.equal(null);
    passedMs += 11 * minutes;
    held.goesOn();
    expect(await held.over.catch((error: unknown) => error)).to.be.instanceOf(LeaseOverError);
    expect(() => held.goesOn()).to.throw(LeaseOverError);
    await eventually('another process takes it', () => others(name));
    await end();
  });

  it('work without progress for 15 minutes loses the lease and ends at its next part', async () => {
    const { name, held, end } = await take(60 * minutes);
    passedMs += 16 * minutes;
    expect(await held.over.catch((error: unknown) => error)).to.be.instanceOf(LeaseOverError);
    await eventually('another process takes it', () => others(name));
    expect(() => held.goesOn()).to.throw(LeaseOverError);
    await end();
  });

  it('takes its lease again after Redis lost it, unless another holder was first', async () => {
    const { key, held, end } = await take();
    await redis().del(key);
    await eventually('the lease is back', async () => (await redis().get(key)) !== null);
    held.goesOn();
    await redis().set(key, 'of another', 'PX', 60_000);
    expect(await held.over.catch((error: unknown) => error)).to.be.instanceOf(LeaseOverError);
    await end();
    expect(await redis().get(key), 'lease of the other holder').to.equal('of another');
    await redis().del(key);
  });

  it('its jobs may last as long as the lease, and do nothing while another one runs', async () => {
    expect([verifyLedgerJob, verifyNowJob].map(getLimitMs)).to.deep.equal([
      verificationMaxMs,
      verificationMaxMs,
    ]);
    await ledgerVerifications.deleteMany({});
    await withLease('verify-ledger', 60_000, () => verifyOnRequest());
    expect(await ledgerVerifications.countDocuments({})).to.equal(0);
    await verifyOnRequest();
    expect(await ledgerVerifications.findOne({})).to.include({ ok: true });
  });

  it('reports progress for each part, with and without closed days, and can be ended', async () => {
    setTime(dayAgo(3), 9);
    const play = await openPlay();
    await play.succeed(await play.buy());
    const parts = async (full: boolean) => {
      let found = 0;
      await verifyLedger(undefined, { full, onPart: () => (found += 1) });
      return found;
    };
    const before = await parts(false);
    expect(before).to.be.greaterThan(3);
    setTime(dayAgo(1), 1);
    await closeLedger();
    expect(await parts(false), 'parts of the daily verification').to.be.greaterThan(3);
    expect(await parts(true), 'parts of the full verification').to.be.greaterThan(before);
    const over = new LeaseOverError('over');
    for (let last = 1; last <= before; last += 1) {
      let left = last;
      const onPart = () => {
        left -= 1;
        if (left === 0) {
          throw over;
        }
      };
      expect(await verifyLedger(undefined, { onPart }).catch((error: unknown) => error)).to.equal(over);
    }
  });
});
