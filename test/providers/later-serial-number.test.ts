/** Orders that a reseller engine accepted with a placeholder for the serial number. */
import { expect } from 'chai';
import type { ApiClient } from '../support/api-client.js';
import { startStack, type Stack } from '../support/stack.js';
import { playedSellers } from './played-sellers.js';
import { sendJson } from './play-server.js';
import { attemptsOf, ledgerOf, newBuyer, purchase, waitUntilFinal } from './provider-stack.js';

describe('an order accepted without a serial number', function () {
  this.timeout(90_000);
  let stack: Stack;
  let buyer: ApiClient;
  let sellers: ReturnType<typeof playedSellers>;

  before(async () => {
    stack = await startStack();
    sellers = playedSellers(stack);
    buyer = await newBuyer(stack, (await stack.seed())['buyer']?.api_key ?? '');
    await stack.startWorker('fulfilment', 'follow-up');
  });
  after(async () => {
    await stack.stop();
    await sellers.stop();
  });

  for (const [later, answer, status, serialNumber] of [
    ['failed, is refunded', { status: '01', transaction_status: 'failed', sn: '-' }, 'FAILED', null],
    ['done, is a success with its serial number', { status: '00', sn: ' SN-77 ' }, 'SUCCESS', 'SN-77'],
  ] as const) {
    it(`is queried again and, if it is ${later}`, async () => {
      const { code, arrivals } = await sellers.play((call, response) => {
        const refId = call.url.searchParams.get('ref_id') ?? '';
        const isFirst = arrivals.filter((each) => each.refId === refId).length === 1;
        const accepted = { status: '00', message: 'Transaksi diproses', sn: ' ' };
        sendJson(response, 200, { ref_id: refId, ...(isFirst ? accepted : answer) });
      });
      const before = await ledgerOf(stack);
      const id = await purchase(buyer, code, '081234561230');
      const final = await waitUntilFinal(stack, id);
      expect([final.status, final.serialNumber]).to.deep.equal([status, serialNumber]);
      expect(arrivals.length, 'queries').to.be.at.least(2);
      expect(await attemptsOf(stack, id)).to.have.length(1);
      const after = await ledgerOf(stack);
      const spent = (before.wallets[final.accountId] ?? 0) - (after.wallets[final.accountId] ?? 0);
      expect(spent).to.equal(status === 'SUCCESS' ? 10_000 : 0);
    });
  }
});
