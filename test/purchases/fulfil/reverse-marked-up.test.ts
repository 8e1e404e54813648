/** Reversal of a sale whose price contains a markup. */
import { expect } from 'chai';
import { requestAdjustment } from '../../../src/adjustments/request-adjustment.js';
import { JournalModel } from '../../../src/money/journals/journal.model.js';
import { getWallet } from '../../../src/money/wallets/wallet-balance.js';
import { setMarkup } from '../../../src/products/set-markup.js';
import { verifyLedger } from '../../../src/reconciliation/ledger/verify-ledger.js';
import { newId } from '../../../src/shared/ids.js';
import { openPlay } from '../../reconciliation/closes/ledger-play.js';
import { useDatabase } from '../../webhooks/support/database.js';

describe('reversal of a sale with a markup', () => {
  useDatabase();

  it('returns the markup too, and takes back the share of the seller and the revenue', async () => {
    const play = await openPlay();
    const { buyer, seller, shop } = play;
    const by = { actor: `operator:${newId()}`, from: null, reason: 'ticket 90' };
    await requestAdjustment({ account: buyer, amount: 50_000 }, by);
    await setMarkup({ buyer, productCode: shop.productCode }, { rupiah: 100 }, by);
    const before = await getWallet(buyer._id);
    const purchase = await play.buy();
    await play.succeed(purchase);
    await play.post();
    const sold = await getWallet(seller._id);
    expect((await getWallet(buyer._id)).balance).to.equal(before.balance - 1_100);
    await play.reverse(purchase);
    await play.post();
    expect((await getWallet(buyer._id)).balance, 'buyer').to.equal(before.balance);
    expect((await getWallet(seller._id)).balance, 'seller').to.equal(0);
    const journal = await JournalModel.findOne({ kind: 'reversal', subjectId: purchase._id }).lean();
    expect(journal?.lines.map(({ account, amount }) => [account, amount])).to.deep.equal([
      [`payable:${seller._id}`, -sold.balance],
      ['platform:revenue', sold.balance - 1_100],
      [`wallet:${buyer._id}`, 1_100],
    ]);
    expect((await verifyLedger()).findings).to.deep.equal([]);
  });
});
