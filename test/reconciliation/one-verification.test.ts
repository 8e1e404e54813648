/** A verification of hours keeps its lease while it reads on, and no longer. */
import { expect } from 'chai';
import { getLimitMs } from '../../src/jobs/define-job.js';
import {
  verifyLedgerJob,
  verifyNowJob,
  verificationMaxMs,
  verifyAskedFor,
} from '../../src/reconciliation/ledger/run-verification.js';
import { verifyLedger } from '../../src/reconciliation/ledger/verify-ledger.js';
import { ledgerVerifications } from '../../src/reconciliation/ledger/ledger-verification.model.js';
import { redis } from '../../src/redis/connection.js';
import { LeaseOverError, withLease, type Held } from '../../src/redis/lease.js';
import { env } from '../../config/env.js';
import { setClock } from '../../src/shared/clock.js';
import { newId } from '../../src/shared/ids.js';
import { closeLedger } from '../../src/reconciliation/closes/close-ledger.js';
import { dayAgo, openPlay, setTime } from './closes/ledger-play.js';
import { eventually } from '../support/eventually.js';
import { useDatabase } from '../webhooks/support/database.js';

const minutes = 60_000;
/** Renewed every 20 ms. */
const leaseMs = 60;

describe('one verification at a time', () => {
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

  /** Takes a lease, and gives what its holder holds. */
  async function take(holdMaxMs?: number) {
    const name = `test-${newId()}`;
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    let held: Held | null = null;
    const limits = holdMaxMs === undefined ? {} : { holdMaxMs };
    const work = withLease(name, leaseMs, (given) => ((held = given), ended), limits);
    const given = await eventually('the lease', () => held);
    const key = `${env.QUEUE_PREFIX}:{lease}:${name}`;
    return { name, key, held: given, end: () => (end(), work) };
  }
  /** Whoever holds it has renewed it since now. */
  const isRenewed = async (key: string) => {
    await redis().pexpire(key, 60_000);
    await eventually('it to be renewed', async () => (await redis().pttl(key)) <= leaseMs);
  };
  const others = (name: string) => withLease(name, leaseMs, () => Promise.resolve('taken'));

  it('work that goes on keeps its lease for longer than a quarter of an hour, up to its own limit', async () => {
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
    await eventually('another one', () => others(name));
    await end();
  });

  it('work that has not gone on for a quarter of an hour loses it, hears so, and ends with its next part', async () => {
    const { name, held, end } = await take(60 * minutes);
    passedMs += 16 * minutes;
    expect(await held.over.catch((error: unknown) => error)).to.be.instanceOf(LeaseOverError);
    await eventually('another one', () => others(name));
    expect(() => held.goesOn()).to.throw(LeaseOverError);
    await end();
  });

  it('what Redis has lost is taken again, unless another one was first', async () => {
    const { key, held, end } = await take();
    await redis().del(key);
    await eventually('it to be there', async () => (await redis().get(key)) !== null);
    held.goesOn();
    await redis().set(key, 'of another', 'PX', 60_000);
    expect(await held.over.catch((error: unknown) => error)).to.be.instanceOf(LeaseOverError);
    await end();
    expect(await redis().get(key), 'nor released').to.equal('of another');
    await redis().del(key);
  });

  it('its jobs last as long as it may, and one that finds another at it does nothing', async () => {
    expect([verifyLedgerJob, verifyNowJob].map(getLimitMs)).to.deep.equal([
      verificationMaxMs,
      verificationMaxMs,
    ]);
    await ledgerVerifications.deleteMany({});
    await withLease('verify-ledger', 60_000, () => verifyAskedFor());
    expect(await ledgerVerifications.countDocuments({})).to.equal(0);
    await verifyAskedFor();
    expect(await ledgerVerifications.findOne({})).to.include({ ok: true });
  });

  it('says of each part that it was read, with closed days and without, and ends when it is told to', async () => {
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
    expect(await parts(false), 'closed days').to.be.greaterThan(3);
    expect(await parts(true), 'everything').to.be.greaterThan(before);
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
