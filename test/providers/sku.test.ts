/** The code of a product at a provider can differ from ours (`Offer.sku`). */
import { expect } from 'chai';
import { newBuyer, purchase, waitUntilFinal } from './provider-stack.js';
import { sendJson } from './play-server.js';
import { playedSellers, respondWithSuccess } from './played-sellers.js';
import type { ApiClient } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { startStack, type Stack } from '../support/stack.js';
import { topup } from '../support/topup.js';

describe('the code of a product at its provider', function () {
  this.timeout(120_000);
  let stack: Stack;
  let buyer: ApiClient;
  let played: ReturnType<typeof playedSellers>;

  before(async () => {
    stack = await startStack();
    await stack.startWorker('fulfilment', 'follow-up');
    buyer = await newBuyer(stack, (await stack.seed())['buyer']?.api_key ?? '');
    played = playedSellers(stack);
  });
  after(async () => {
    await played.stop();
    await stack.stop();
  });

  it('is sent with an order, and its status checks keep it after a change', async () => {
    let isDone = false;
    const { server, sellerId, code } = await played.play((call, response) => {
      if (isDone) {
        respondWithSuccess(call, response);
      } else {
        sendJson(response, 200, { status: '05', ref_id: call.url.searchParams.get('ref_id') });
      }
    });
    const sent = () =>
      server.calls
        .filter(({ url }) => url.pathname === '/request')
        .map(({ url }) => url.searchParams.get('code'));
    const seller = await stack.db
      .collection<{ _id: string; username: string }>('accounts')
      .findOne({ _id: sellerId });
    const setSku = (sku: string) =>
      topup(
        ['product', 'set', code, '--seller', seller?.username ?? '', '--sku', sku, '--reason', 'their code'],
        stack.env,
      );
    await setSku('THEIRS 10');
    const id = await purchase(buyer, code, '081234567890');
    await eventually('the order is sent', () => Promise.resolve(sent().length > 0));
    await setSku('OTHER');
    const before = sent().length;
    isDone = true;
    await waitUntilFinal(stack, id, 30_000);
    expect(sent().length, 'status checks').to.be.greaterThan(before);
    expect(new Set(sent())).to.deep.equal(new Set(['THEIRS 10']));
    const later = await purchase(buyer, code, '081234567891');
    await waitUntilFinal(stack, later, 30_000);
    expect(sent().at(-1)).to.equal('OTHER');
  });
});
