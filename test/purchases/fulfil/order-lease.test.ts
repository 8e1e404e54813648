import { expect } from 'chai';
import { getAdapter } from '../../../src/providers/get-adapter.js';
import { getOrderKey, OrderModel, type Order } from '../../../src/purchases/order.model.js';
import { claimNextOrder, openPlay } from '../../reconciliation/closes/ledger-play.js';
import { useDatabase } from '../../webhooks/support/database.js';

describe('the lease of an order', () => {
  useDatabase();

  it('outlasts the request, even if it is sent at the last moment', async () => {
    const play = await openPlay();
    const { order, purchase, sendBefore } = await claimNextOrder(await play.buy());
    const { timeoutMs } = getAdapter(order.providerKind).traits;
    const { leaseUntil } = await OrderModel.findOne(getOrderKey(order)).orFail().lean<Order>();
    const requestEndsMs = sendBefore.getTime() + timeoutMs;
    expect(Number(leaseUntil)).to.be.at.least(requestEndsMs);
    expect(Number(purchase.nextActionAt), 'the sweep').to.be.at.least(requestEndsMs);
  });
});
