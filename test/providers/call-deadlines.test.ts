/**
 * Calls that can buy. A process makes them after their deadline and cannot notice that, because its
 * host was suspended.
 */
import diagnosticsChannel from 'node:diagnostics_channel';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import type { ServerResponse } from 'node:http';
import type { ProviderAdapter, ProviderConnection, ProviderOrder } from '../../src/providers/adapter.js';
import { createDigiflazzAdapter } from '../../src/providers/digiflazz.js';
import { guardAdapter } from '../../src/providers/guarded-adapter.js';
import { createH2hAdapter } from '../../src/providers/h2h.js';
import { LateError, stopSending } from '../../src/providers/http.js';
import { redis } from '../../src/redis/connection.js';
import { newId } from '../../src/shared/ids.js';
import { eventually } from '../support/eventually.js';
import { shiftRedisTime } from '../support/shift-redis-time.js';
import { useGatedClock } from './gated-clock.js';
import { sendJson, startPlayServer, type PlayedCall, type PlayServer } from './play-server.js';

const sleepMs = 600_000;
const total = 11_000;
const h2h = guardAdapter(createH2hAdapter('h2h'));
const digiflazz = guardAdapter(createDigiflazzAdapter(() => undefined));

describe('deadline of calls that can buy', () => {
  const gated = useGatedClock();
  const { real } = gated;
  let provider: PlayServer;
  let onInquiry = () => {};

  before(async () => (provider = await startPlayServer(answer)));
  after(() => provider.stop());
  beforeEach(() => {
    onInquiry = () => {};
    provider.calls.length = 0;
  });

  /** Responds in both protocols. */
  function answer({ raw, url }: PlayedCall, response: ServerResponse): void {
    if (!raw) {
      const ref_id = url.searchParams.get('ref_id');
      sendJson(response, 200, {
        status: '00',
        transaction_status: 'success',
        ref_id,
        sn: 'SN',
        message: 'ok',
      });
      return;
    }
    const { ref_id, customer_no, commands } = JSON.parse(raw) as Record<string, string>;
    if (commands === 'inq-pasca') {
      onInquiry();
    }
    const bill = { customer_name: 'X', price: 10_000, admin: 2_500, selling_price: total, periode: '201901' };
    const reply = { ref_id, customer_no, rc: '00', status: 'Sukses', message: 'ok', sn: 'SN' };
    sendJson(response, 200, { data: { ...reply, ...bill } });
  }

  const connection = (): ProviderConnection => ({
    sellerId: newId(),
    baseUrl: provider.url,
    username: 'us',
    secret: 'secret',
  });
  /** Builds an order that was claimed at this time. Its deadline is three seconds later. */
  const orderOf = (claimedMs: number): ProviderOrder & { billTotal: number } => ({
    providerRef: newId(),
    productCode: 'S10',
    customerNumber: '530000000001',
    costMax: total,
    billTotal: total,
    sendBefore: new Date(claimedMs + 3_000),
  });
  const redisNow = async () => {
    const other = new Redis(real.url);
    const [seconds] = await other.time();
    other.disconnect();
    return Number(seconds) * 1_000;
  };
  const steadySleeps = () => (performance.now = () => real.steady() - sleepMs);
  const sleeps = {
    'the host slept': steadySleeps,
    'the whole machine and its wall clock were paused': () => {
      steadySleeps();
      Date.now = () => real.date() - sleepMs;
    },
  };
  /** Returns the outcome, or the error if the call fails. */
  const late = (asked: Promise<unknown>) => asked.catch((error: unknown) => error);
  const bought = () => provider.calls.filter(({ raw }) => !raw.includes('inq-pasca'));

  for (const [what, sleep] of Object.entries(sleeps)) {
    for (const call of ['buy', 'payBill'] as const) {
      it(`an order (${call}) is not sent if ${what}`, async () => {
        const claimedMs = (await redisNow()) - sleepMs;
        sleep();
        expect(await late(h2h[call](connection(), orderOf(claimedMs)))).to.be.instanceOf(LateError);
        expect(bought()).to.have.length(0);
      });
    }

    it(`a bill is not paid if ${what} during its inquiry`, async () => {
      const claimedMs = await redisNow();
      let aheadMs = 0;
      onInquiry = () => {
        sleep();
        aheadMs = sleepMs;
      };
      // Ten minutes have passed on Redis, but not in this process.
      shiftRedisTime(redis(), () => aheadMs);
      expect(await late(digiflazz.payBill(connection(), orderOf(claimedMs)))).to.be.instanceOf(LateError);
      expect(provider.calls).to.have.length(1);
    });

    it(`a status check that may buy is not sent if ${what}`, async () => {
      const claimedMs = (await redisNow()) - sleepMs;
      sleep();
      for (const adapter of [h2h, digiflazz]) {
        expect(await late(adapter.inquire(connection(), orderOf(claimedMs)))).to.be.instanceOf(LateError);
      }
      expect(bought()).to.have.length(0);
    });
  }

  it('nothing is sent while Redis does not reply to TIME', async () => {
    const claimedMs = await redisNow();
    await gated.gate.cut();
    await eventually('the connection is lost', () => redis().status !== 'ready');
    expect(await late(h2h.buy(connection(), orderOf(claimedMs)))).to.be.instanceOf(LateError);
    expect(bought()).to.have.length(0);
  });

  it('nothing is sent from a process whose fleet clock has stopped', async () => {
    const claimedMs = await redisNow();
    await gated.clock.stop();
    expect(await late(h2h.buy(connection(), orderOf(claimedMs)))).to.be.instanceOf(LateError);
    expect(bought()).to.have.length(0);
  });

  it('nothing is written to a connection if the host was suspended while it opened', async () => {
    const claimedMs = await redisNow();
    const suspendHost = () => shiftRedisTime(redis(), () => sleepMs);
    const channel = 'undici:client:beforeConnect';
    diagnosticsChannel.subscribe(channel, suspendHost);
    try {
      for (const call of ['buy', 'inquire'] as const) {
        const fresh = await startPlayServer(answer);
        const there = { ...connection(), baseUrl: fresh.url };
        expect(await late(h2h[call](there, orderOf(claimedMs))), call).to.be.instanceOf(LateError);
        expect(fresh.calls, call).to.have.length(0);
        await fresh.stop();
        delete (redis() as Partial<Redis>).eval;
      }
    } finally {
      diagnosticsChannel.unsubscribe(channel, suspendHost);
    }
  });

  it('each call is sent before its deadline', async () => {
    const claimedMs = await redisNow();
    const calls = (adapter: ProviderAdapter) => [
      adapter.buy(connection(), orderOf(claimedMs)),
      adapter.payBill(connection(), orderOf(claimedMs)),
      adapter.inquire(connection(), orderOf(claimedMs)),
    ];
    const outcomes = await Promise.all([...calls(h2h), ...calls(digiflazz)]);
    expect(outcomes.map(({ outcome }) => outcome)).to.deep.equal(Array(6).fill('success'));
    expect(bought()).to.have.length(6);
  });

  // This must be the last test of the file, because `stopSending` is permanent for the process.
  it('nothing is sent from a process that can no longer store results', async () => {
    const claimedMs = await redisNow();
    stopSending();
    expect(await late(h2h.buy(connection(), orderOf(claimedMs)))).to.be.instanceOf(LateError);
    expect(bought()).to.have.length(0);
  });
});
