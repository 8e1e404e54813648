/** While an order is being sent or asked about, its provider may still answer, and sell: nobody else asks, and nobody decides. */
import { expect } from 'chai';
import mongoose from 'mongoose';
import type { ServerResponse } from 'node:http';
import { bySystem } from '../../../src/audit/record-audit.js';
import { putUnderReview } from '../../../src/purchases/fulfil/put-under-review.js';
import { getOrderKey, OrderModel, type Order } from '../../../src/purchases/order.model.js';
import { PurchaseModel, type Purchase } from '../../../src/purchases/purchase.model.js';
import { resolveReview, type Decision } from '../../../src/purchases/review/resolve-review.js';
import { keepFleetClock, type FleetClock } from '../../../src/redis/fleet-clock.js';
import { openShop, type Shop } from '../../jobs/sold-purchases.js';
import { sendJson, startPlayServer, type PlayServer } from '../../providers/play-server.js';
import { eventually } from '../../support/eventually.js';
import { withFault, type Fault } from '../../support/mongo-faults.js';
import { useDatabase } from '../../webhooks/support/database.js';
import { fulfilById } from './fulfil-by-id.js';

describe('an order that is being sent or asked about', () => {
  useDatabase();
  let provider: PlayServer;
  let shop: Shop;
  let clock: FleetClock;
  let isHeld: boolean;
  const held: ((how: 'success' | 'pending') => void)[] = [];
  /** What was held first. */
  const answer = (how: 'success' | 'pending') => held.shift()?.(how);

  before(async () => {
    clock = keepFleetClock();
    await clock.measured;
    provider = await startPlayServer(({ url }, response) => {
      const as = (how: 'success' | 'pending') => {
        tell(response, url.searchParams.get('ref_id') ?? '', how);
      };
      if (isHeld) {
        held.push(as);
      } else {
        as('pending');
      }
    });
    shop = await openShop(provider.url);
  });
  beforeEach(() => {
    provider.calls.length = 0;
    held.length = 0;
    isHeld = false;
  });
  after(async () => {
    await clock.stop();
    await provider.stop();
  });

  it('is not asked about by another, although its shortest interval is over: the first question may buy when the second was believed', async () => {
    const { id, asking } = await withCheckUnderWay();
    await olderBy(id, ['lastCheckAt']);
    await fulfilById(id, { askNow: true });
    expect(provider.calls).to.have.length(2);
    answer('pending');
    await asking;
    // What was asked has its answer: it may be asked about again.
    isHeld = false;
    await olderBy(id, ['lastCheckAt']);
    await fulfilById(id, { askNow: true });
    expect(provider.calls).to.have.length(3);
  });

  const decisions: Decision[] = [{ outcome: 'failed' }, { outcome: 'success', serialNumber: 'SN1' }];
  for (const decision of decisions) {
    it(`cannot be decided as ${decision.outcome} while it is asked about, and can be afterwards`, async () => {
      const { id, asking } = await withCheckUnderWay();
      await putUnderReview(await read(id), 'It takes long.');
      expect(await refusalOf(id, decision)).to.match(/is being sent or asked about just now.*again in \d+ s/);
      answer('pending');
      await asking;
      await decide(id, decision);
      expect(await read(id)).to.include({ status: decision.outcome === 'failed' ? 'FAILED' : 'SUCCESS' });
    });

    it(`cannot be decided as ${decision.outcome} while it is sent`, async () => {
      const { _id: id } = await shop.buy();
      isHeld = true;
      const sending = fulfilById(id);
      await eventually('the order to be there', () => provider.calls.length === 1);
      await putUnderReview(await read(id), 'It takes long.');
      expect(await refusalOf(id, decision)).to.match(/is being sent or asked about just now/);
      answer('success');
      await sending;
      expect(await read(id)).to.include({ status: 'SUCCESS' });
    });
  }

  it('cannot be decided either when who sent it hears late, while another asks by now', async () => {
    const { _id: id } = await shop.buy();
    isHeld = true;
    const sending = fulfilById(id);
    await eventually('the order to be there', () => provider.calls.length === 1);
    await olderBy(id, ['sentAt', 'leaseUntil']);
    const asking = fulfilById(id, { askNow: true });
    await eventually('the question to be there', () => provider.calls.length === 2);
    answer('pending');
    await sending;
    await putUnderReview(await read(id), 'It takes long.');
    expect(await refusalOf(id, { outcome: 'failed' })).to.match(/is being sent or asked about just now/);
    answer('success');
    await asking;
    expect(await read(id)).to.include({ status: 'SUCCESS' });
  });

  it('cannot be decided where somebody begins to ask about it in that very moment', async () => {
    const { _id: id } = await shop.buy();
    await fulfilById(id);
    await olderBy(id, ['sentAt', 'lastCheckAt']);
    isHeld = true;
    // Its claim takes effect when the decision has looked at the order, and is not written yet.
    await withFault(paused('update', 'attempts', 1_000), async ({ met: isClaiming }) => {
      const asking = fulfilById(id, { askNow: true });
      await eventually('the claim of the check', async () => (await isClaiming()) > 0);
      await putUnderReview(await read(id), 'It takes long.');
      await withFault(paused('find', 'wallets', 2_000), async () => {
        const decided = refusalOf(id, { outcome: 'failed' });
        await eventually('the question to be there', () => provider.calls.length === 2);
        expect(await decided).to.match(/has just changed/);
      });
      answer('success');
      await asking;
    });
    expect(await read(id)).to.include({ status: 'SUCCESS' });
  });

  /** Sent, pending, and asked about: its provider has the question and does not answer yet. */
  async function withCheckUnderWay(): Promise<{ id: string; asking: Promise<unknown> }> {
    const { _id: id } = await shop.buy();
    await fulfilById(id);
    await olderBy(id, ['sentAt', 'lastCheckAt']);
    isHeld = true;
    const asking = fulfilById(id, { askNow: true });
    await eventually('the question to be there', () => provider.calls.length === 2);
    return { id, asking };
  }

  function paused(command: string, collection: string, ms: number): Fault {
    return { kind: 'pause', commands: [command], namespace: `${mongoose.connection.name}.${collection}`, ms };
  }

  function decide(id: string, decision: Decision): Promise<unknown> {
    return resolveReview(id, decision, { ...bySystem, reason: 'looked up' });
  }

  async function refusalOf(id: string, decision: Decision): Promise<string> {
    return decide(id, decision).then(
      () => 'it was decided',
      (error: unknown) => String(error),
    );
  }

  function read(id: string): Promise<Purchase> {
    return PurchaseModel.findById(id).orFail().lean<Purchase>();
  }

  async function olderBy(
    id: string,
    fields: ('sentAt' | 'lastCheckAt' | 'leaseUntil')[],
    ms = 60_000,
  ): Promise<void> {
    const order = await OrderModel.findOne({ transactionId: id }).orFail().lean<Order>();
    const older = fields.map((field) => [field, order[field] && new Date(order[field].getTime() - ms)]);
    await OrderModel.updateOne(getOrderKey(order), { $set: Object.fromEntries(older) as object });
  }
});

function tell(response: ServerResponse, ref_id: string, how: 'success' | 'pending'): void {
  const sn = how === 'success' ? `SN${ref_id}` : null;
  const status = how === 'success' ? '00' : '05';
  sendJson(response, 200, { ref_id, status, transaction_status: how, message: how, sn });
}
