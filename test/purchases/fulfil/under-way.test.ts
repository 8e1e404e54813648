/**
 * While an order is being sent or checked, its provider may still execute it. Meanwhile no other
 * check and no decision is allowed.
 */
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

describe('an order that is being sent or checked', () => {
  useDatabase();
  let provider: PlayServer;
  let shop: Shop;
  let clock: FleetClock;
  let isHeld: boolean;
  const heldRequests: ((how: 'success' | 'pending') => void)[] = [];
  /** Responds to the oldest held request. */
  const answer = (how: 'success' | 'pending') => heldRequests.shift()?.(how);

  before(async () => {
    clock = keepFleetClock();
    await clock.measured;
    provider = await startPlayServer(({ url }, response) => {
      const as = (how: 'success' | 'pending') => {
        sendAnswer(response, url.searchParams.get('ref_id') ?? '', how);
      };
      if (isHeld) {
        heldRequests.push(as);
      } else {
        as('pending');
      }
    });
    shop = await openShop(provider.url);
  });
  beforeEach(() => {
    provider.calls.length = 0;
    heldRequests.length = 0;
    isHeld = false;
  });
  after(async () => {
    await clock.stop();
    await provider.stop();
  });

  it('is not checked again while a first check, which may buy, is in flight', async () => {
    const { id, asking } = await startCheck();
    await agePurchase(id, ['lastCheckAt']);
    await fulfilById(id, { askNow: true });
    expect(provider.calls).to.have.length(2);
    answer('pending');
    await asking;
    // The check has its response, so a new check is allowed.
    isHeld = false;
    await agePurchase(id, ['lastCheckAt']);
    await fulfilById(id, { askNow: true });
    expect(provider.calls).to.have.length(3);
  });

  const decisions: Decision[] = [{ outcome: 'failed' }, { outcome: 'success', serialNumber: 'SN1' }];
  for (const decision of decisions) {
    it(`cannot be decided as ${decision.outcome} during a status check, but afterwards`, async () => {
      const { id, asking } = await startCheck();
      await putUnderReview(await read(id), 'It takes long.');
      expect(await refusalOf(id, decision)).to.match(/is in flight.*again in \d+ s/);
      answer('pending');
      await asking;
      await decide(id, decision);
      expect(await read(id)).to.include({ status: decision.outcome === 'failed' ? 'FAILED' : 'SUCCESS' });
    });

    it(`cannot be decided as ${decision.outcome} while it is being sent`, async () => {
      const { _id: id } = await shop.buy();
      isHeld = true;
      const sending = fulfilById(id);
      await eventually('the order arrives', () => provider.calls.length === 1);
      await putUnderReview(await read(id), 'It takes long.');
      expect(await refusalOf(id, decision)).to.match(/is in flight/);
      answer('success');
      await sending;
      expect(await read(id)).to.include({ status: 'SUCCESS' });
    });
  }

  it('cannot be decided after a late response to its sender during another check', async () => {
    const { _id: id } = await shop.buy();
    isHeld = true;
    const sending = fulfilById(id);
    await eventually('the order arrives', () => provider.calls.length === 1);
    await agePurchase(id, ['sentAt', 'leaseUntil']);
    const asking = fulfilById(id, { askNow: true });
    await eventually('the status check arrives', () => provider.calls.length === 2);
    answer('pending');
    await sending;
    await putUnderReview(await read(id), 'It takes long.');
    expect(await refusalOf(id, { outcome: 'failed' })).to.match(/is in flight/);
    answer('success');
    await asking;
    expect(await read(id)).to.include({ status: 'SUCCESS' });
  });

  it('cannot be decided if a status check is claimed at the same moment', async () => {
    const { _id: id } = await shop.buy();
    await fulfilById(id);
    await agePurchase(id, ['sentAt', 'lastCheckAt']);
    isHeld = true;
    // Claim the check after the decision has read the order and before the decision is written.
    await withFault(buildPause('update', 'attempts', 1_000), async ({ met: isClaiming }) => {
      const asking = fulfilById(id, { askNow: true });
      await eventually('the check is being claimed', async () => (await isClaiming()) > 0);
      await putUnderReview(await read(id), 'It takes long.');
      await withFault(buildPause('find', 'wallets', 2_000), async () => {
        const decided = refusalOf(id, { outcome: 'failed' });
        await eventually('the status check arrives', () => provider.calls.length === 2);
        expect(await decided).to.match(/has just changed/);
      });
      answer('success');
      await asking;
    });
    expect(await read(id)).to.include({ status: 'SUCCESS' });
  });

  /**
   * Returns a pending order whose status check is in flight. The provider does not respond to it
   * yet.
   */
  async function startCheck(): Promise<{ id: string; asking: Promise<unknown> }> {
    const { _id: id } = await shop.buy();
    await fulfilById(id);
    await agePurchase(id, ['sentAt', 'lastCheckAt']);
    isHeld = true;
    const asking = fulfilById(id, { askNow: true });
    await eventually('the status check arrives', () => provider.calls.length === 2);
    return { id, asking };
  }

  function buildPause(command: string, collection: string, ms: number): Fault {
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

  async function agePurchase(
    id: string,
    fields: ('sentAt' | 'lastCheckAt' | 'leaseUntil')[],
    ms = 60_000,
  ): Promise<void> {
    const order = await OrderModel.findOne({ transactionId: id }).orFail().lean<Order>();
    const older = fields.map((field) => [field, order[field] && new Date(order[field].getTime() - ms)]);
    await OrderModel.updateOne(getOrderKey(order), { $set: Object.fromEntries(older) as object });
  }
});

function sendAnswer(response: ServerResponse, ref_id: string, how: 'success' | 'pending'): void {
  const sn = how === 'success' ? `SN${ref_id}` : null;
  const status = how === 'success' ? '00' : '05';
  sendJson(response, 200, { ref_id, status, transaction_status: how, message: how, sn });
}
