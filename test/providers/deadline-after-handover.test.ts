/**
 * Calls that can buy and that passed their deadline after the hand-over to the HTTP client. They
 * waited for a blocked event loop or for a free connection.
 */
import diagnosticsChannel from 'node:diagnostics_channel';
import { expect } from 'chai';
import type { ServerResponse } from 'node:http';
import { Redis } from 'ioredis';
import { guardAdapter } from '../../src/providers/guarded-adapter.js';
import { createH2hAdapter } from '../../src/providers/h2h.js';
import { LateError } from '../../src/providers/http.js';
import { measureLatestNowMs } from '../../src/redis/fleet-clock.js';
import { nowMs } from '../../src/shared/clock.js';
import { newId } from '../../src/shared/ids.js';
import { eventually } from '../support/eventually.js';
import { useGatedClock } from './gated-clock.js';
import { sendJson, startPlayServer, type PlayServer } from './play-server.js';

const connectionsOfAnAddress = 256;
const h2h = guardAdapter(createH2hAdapter('h2h'));

describe('calls that can buy, after waiting', () => {
  const gated = useGatedClock();
  const { real } = gated;
  let provider: PlayServer;
  let isHeld = false;
  let heldResponses: ServerResponse[] = [];

  before(async () => {
    provider = await startPlayServer((_call, response) => {
      if (isHeld) {
        heldResponses.push(response);
      } else {
        answer(response);
      }
    });
  });
  after(() => provider.stop());
  beforeEach(() => {
    isHeld = false;
    heldResponses = [];
    provider.calls.length = 0;
  });
  afterEach(() => heldResponses.forEach(answer));

  it('are not written to an open connection after a blocked event loop', async () => {
    const sellerId = newId();
    await buy(sellerId, 3_000);
    let isMet = false;
    const late = buy(sellerId, 1_500).catch((error: unknown) => error);
    diagnosticsChannel.subscribe('undici:request:create', blockEventLoop);
    expect(await late).to.be.instanceOf(LateError);
    expect(isMet, 'request was created').to.equal(true);
    await buy(sellerId, 3_000);
    expect(provider.calls).to.have.length(2);
    // Each order has a connection to itself.
    expect(new Set(provider.calls.map(({ port }) => port)).size, 'connections').to.equal(2);

    function blockEventLoop(): void {
      diagnosticsChannel.unsubscribe('undici:request:create', blockEventLoop);
      isMet = true;
      const untilMs = real.steady() + 2_000;
      while (real.steady() < untilMs) {}
    }
  });

  it('are not sent after waiting for a connection of a shared address', async () => {
    isHeld = true;
    const each = 50;
    const sellers = Array.from({ length: connectionsOfAnAddress / each + 1 }, newId);
    const first = Promise.allSettled(
      Array.from({ length: connectionsOfAnAddress }, (_, n) =>
        buy(sellers[Math.floor(n / each)] ?? '', 10_000),
      ),
    );
    await eventually('each connection is used', () => heldResponses.length === connectionsOfAnAddress);
    const beforeMs = nowMs() + 300;
    const late = buy(newId(), 300).catch((error: unknown) => error);
    await eventually('the deadline is over', () => nowMs() > beforeMs);
    isHeld = false;
    heldResponses.forEach(answer);
    expect(await late).to.be.instanceOf(LateError);
    await first;
    expect(provider.calls).to.have.length(connectionsOfAnAddress);
  });

  it('the latest possible time is never before Redis time, even with a short pause', async () => {
    const other = new Redis(real.url);
    try {
      gated.gate.delay(440);
      performance.now = () => real.steady() - 430;
      Date.now = () => real.date() - 430;
      const sureMs = await measureLatestNowMs();
      const [seconds, micros] = await other.time();
      expect(sureMs).to.be.at.least(Number(seconds) * 1_000 + Number(micros) / 1_000 - 50);
    } finally {
      other.disconnect();
    }
  });

  function buy(sellerId: string, withinMs: number) {
    return h2h.buy(
      { sellerId, baseUrl: provider.url, username: 'us', secret: 'secret' },
      {
        providerRef: newId(),
        productCode: 'S5',
        customerNumber: '081234567890',
        costMax: 1_000,
        sendBefore: new Date(nowMs() + withinMs),
      },
    );
  }

  function answer(response: ServerResponse): void {
    if (!response.writableEnded) {
      sendJson(response, 200, { status: '00', transaction_status: 'success', sn: 'SN', message: 'ok' });
    }
  }
});
