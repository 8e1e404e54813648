/**
 * Alarms without Prometheus whose receiver was unreachable. They are announced only while they are
 * active. The end of an alarm is announced only if its start was.
 */
import { expect } from 'chai';
import { activeAlarmFilter, storedAlarms } from '../../src/alarms/alarm.model.js';
import { disconnectMongo } from '../../src/database/mongo.js';
import { connectRedis, disconnectRedis } from '../../src/redis/connection.js';
import { buildFigure } from '../../src/signals/figures.js';
import { keepIfNewer, notifyRound } from '../../src/signals/notify-alarms.js';
import { uniqueRef } from '../support/api-client.js';
import { connectMongoWhenReady } from '../support/connect-mongo.js';

describe('an alarm that the receiver missed', () => {
  before(() => Promise.all([connectMongoWhenReady(), connectRedis(null)]));
  after(() => Promise.all([disconnectMongo(), disconnectRedis()]));

  const queue = () => uniqueRef('queue');
  const hangs = (name: string, seconds: number, atMs: number) => ({
    atMs,
    found: [buildFigure('topup_queue_hanging_seconds', { queue: name }, seconds)],
  });
  /**
   * Returns a receiver that collects the messages about this queue. It refuses messages while
   * `refuses` is true.
   */
  const receiver = (name: string) => {
    const told: string[] = [];
    const state = { refuses: true };
    const tell = (text: string) => {
      if (!text.includes(name) || !state.refuses) {
        told.push(...(text.includes(name) ? [text] : []));
        return Promise.resolve(null);
      }
      return Promise.resolve('it returned 500');
    };
    return { told, state, tell };
  };
  const idOf = (name: string) => `TopupJobHangs ${name}`;
  /** Skips the half minute between two attempts to send. */
  const tryAgain = (name: string) =>
    storedAlarms.updateOne({ _id: idOf(name) }, { $set: { claimedUntil: new Date(0) } });

  it('is announced with its original figures while it is active', async () => {
    const name = queue();
    const { told, state, tell } = receiver(name);
    const atMs = Date.now();
    await notifyRound(tell, hangs(name, 91, atMs));
    await notifyRound(tell, hangs(name, 0, atMs + 15_000));
    expect(told).to.deep.equal([]);
    state.refuses = false;
    await tryAgain(name);
    await notifyRound(tell, hangs(name, 0, atMs + 30_000));
    expect(told).to.have.length(1);
    expect(told[0]).to.match(/^\[page\] TopupJobHangs .*running for 91 s/);
    await tryAgain(name);
    await notifyRound(tell, hangs(name, 0, atMs + 45_000));
    expect(told, 'announcements').to.have.length(1);
  });

  it('is announced by one message for start and end if it is over by then', async () => {
    const name = queue();
    const { told, state, tell } = receiver(name);
    const atMs = Date.now();
    await notifyRound(tell, hangs(name, 91, atMs));
    await storedAlarms.updateOne({ _id: idOf(name) }, { $set: { seenAt: new Date(0) } });
    await tryAgain(name);
    await notifyRound(tell, hangs(name, 0, atMs + 15_000));
    state.refuses = false;
    await tryAgain(name);
    await notifyRound(tell, hangs(name, 0, atMs + 30_000));
    expect(told).to.have.length(1);
    expect(told[0]).to.match(/^\[over\] TopupJobHangs .*could not be delivered while it lasted: \[page\]/);
    expect(await storedAlarms.findOne({ _id: idOf(name), ...activeAlarmFilter })).to.equal(null);
  });

  it("ages by the time of its figures, which must be newer than the process's start", async () => {
    const figures = { atMs: 1_000, found: [] };
    expect(keepIfNewer(figures, 1_001)).to.equal(null);
    expect(keepIfNewer(figures, 1_000)).to.equal(figures);
    const name = queue();
    const { told, state, tell } = receiver(name);
    state.refuses = false;
    const paused = (atMs: number) => ({
      atMs,
      found: [buildFigure('topup_queue_paused', { queue: name }, 1)],
    });
    const atMs = Date.now() - 3_600_000;
    await notifyRound(tell, paused(atMs));
    await notifyRound(tell, paused(atMs));
    expect(told, 'announcements from the same figures an hour later').to.deep.equal([]);
    await notifyRound(tell, paused(atMs + 600_000));
    expect(told).to.have.length(1);
  });
});
