/** Settlements of sellers whose wallet fell below zero after the request. */
import { expect } from 'chai';
import { env } from '../../config/env.js';
import { requestAdjustment } from '../../src/adjustments/request-adjustment.js';
import { diagnoseAttention } from '../../src/doctor/diagnose-work.js';
import { postSellerCredits } from '../../src/money/credits/seller-credits.js';
import { buildMovementLines } from '../../src/money/journals/new-journal.js';
import { post } from '../../src/money/posting/post.js';
import { getWallet } from '../../src/money/wallets/wallet-balance.js';
import { createOperator } from '../../src/operators/manage-operators.js';
import { verifyLedger } from '../../src/reconciliation/ledger/verify-ledger.js';
import { claimSettlement, getPossibleSteps } from '../../src/settlements/claim-settlement.js';
import {
  approveSettlement,
  completeSettlement,
  failSettlement,
  payOut,
} from '../../src/settlements/pay-out.js';
import { SettlementModel, type Settlement } from '../../src/settlements/settlement.model.js';
import { WalletBelowZeroError } from '../../src/settlements/wallet-below-zero.js';
import { newId } from '../../src/shared/ids.js';
import { startSellingProvider } from '../jobs/sold-purchases.js';
import type { PlayServer } from '../providers/play-server.js';
import { topup } from '../support/topup.js';
import { useDatabase } from '../webhooks/support/database.js';
import { budi, debt, dewi, withdrawEverything } from './support/owing-seller.js';

describe('settlements of wallets below zero', () => {
  useDatabase();
  let provider: PlayServer;
  const { PAYOUT_MODE: usual } = env;
  before(async () => {
    provider = await startSellingProvider(() => false);
    env.PAYOUT_MODE = 'manual';
  });
  after(async () => {
    env.PAYOUT_MODE = usual;
    await provider.stop();
  });

  const read = (id: string) => SettlementModel.findById(id).orFail().lean<Settlement>();
  const refusal = (work: Promise<unknown>): Promise<unknown> =>
    work.then(() => null).catch((each: unknown) => each);
  async function withdraw() {
    const shop = await withdrawEverything(provider.url);
    await payOut(shop.settlement._id, shop.seller._id);
    return shop;
  }

  it('are not approved, even before the reversal is posted', async () => {
    const { settlement, seller, reverse } = await withdraw();
    await SettlementModel.updateOne(
      { _id: settlement._id },
      { status: 'pending', needsApproval: true, reviewReason: 'recent-change' },
    );
    await reverse();
    expect((await getWallet(seller._id)).balance).to.equal(0);
    const error = await refusal(approveSettlement(settlement._id, budi));
    expect(error).to.be.instanceOf(WalletBelowZeroError).and.to.have.property('code', '01');
    expect((error as Error).message)
      .to.include(`-${debt} rupiah`)
      .and.to.include('fail the settlement');
    expect(await read(settlement._id)).to.include({ needsApproval: true, status: 'pending' });
    await failSettlement(settlement._id, 'you owe us', budi);
    expect((await getWallet(seller._id)).balance).to.equal(100_000);
  });

  it('are not claimed, but can be taken over and failed', async () => {
    const { settlement, seller, reverse } = await withdraw();
    const { _id } = settlement;
    const other = await withdraw();
    await claimSettlement(other.settlement._id, budi);
    await Promise.all([reverse(), other.reverse()]);
    expect(await refusal(claimSettlement(_id, budi))).to.be.instanceOf(WalletBelowZeroError);
    expect(await read(_id)).to.include({ claimedBy: null });
    const again = await refusal(claimSettlement(other.settlement._id, budi));
    expect(again, 'repeated claim').to.be.instanceOf(WalletBelowZeroError);
    const taken = await claimSettlement(other.settlement._id, dewi, { takeOver: true });
    expect(taken).to.include({ changed: true, mayBePaid: false });
    await failSettlement(other.settlement._id, 'you owe us', dewi);
    await failSettlement(_id, 'you owe us', budi);
    expect((await getWallet(seller._id)).balance).to.equal(100_000);
  });

  it('are not completed until the wallet has recovered', async () => {
    const { settlement, seller, reverse } = await withdraw();
    const { _id } = settlement;
    await claimSettlement(_id, budi);
    await reverse();
    const complete = () => completeSettlement(_id, budi, { bankReference: `BCA ${_id}` });
    const errors = [await refusal(complete()), await refusal(complete())];
    errors.forEach((each) => expect(each).to.be.instanceOf(WalletBelowZeroError));
    expect((errors[0] as Error).message).to.include('correct the wallet');
    expect(await read(_id)).to.include({ status: 'processing', finalAt: null });
    await requestAdjustment({ account: seller, amount: debt }, budi);
    expect(await complete()).to.include({ status: 'completed' });
    expect(await complete(), 'repeat').to.include({ status: 'completed' });
    expect(await getWallet(seller._id)).to.include({ balance: 0, held: 0 });
  });

  it('are left to operators by the simulated payout', async () => {
    const { settlement, reverse } = await withdrawEverything(provider.url);
    await reverse();
    env.PAYOUT_MODE = 'simulated';
    try {
      await payOut(settlement._id, settlement.accountId);
    } finally {
      env.PAYOUT_MODE = 'manual';
    }
    const left = { status: 'processing', byHand: true, nextActionAt: null, claimedBy: null };
    expect(await read(settlement._id)).to.include(left);
  });

  it('are shown by the list and by doctor, and only fail is offered', async () => {
    const { settlement, seller, reverse } = await withdraw();
    await reverse();
    await postSellerCredits(seller._id);
    const actor = 'operator:budi';
    const current = await read(settlement._id);
    expect(getPossibleSteps(current, { actor, isBelowZero: true })).to.deep.equal(['fail']);
    await createOperator({ username: 'budi', role: 'admin', password: 'a password of budi' }, budi);
    const listed = await topup(['settlement', 'list', '--json'], process.env);
    const rows = listed.json<{ id: string; wallet_below_zero: boolean }[]>();
    expect(rows.find(({ id }) => id === settlement._id)?.wallet_below_zero).to.equal(true);
    const shown = await topup(['settlement', 'list'], process.env);
    expect(shown.stdout).to.include('wallet below zero');
    const warning = (await diagnoseAttention()).find(({ name }) => name.includes('below zero'));
    expect(warning).to.include({ status: 'warn' });
    expect(warning?.advice).to.include('Do not pay them');
  });

  it('leave a valid ledger', async () => {
    expect((await verifyLedger()).findings).to.deep.equal([]);
  });

  // Last, because its debt has no purchase, which the ledger would report.
  it('are refused by the posting itself if the debt arrives in its group', async () => {
    const { settlement, seller } = await withdraw();
    const { _id: accountId } = seller;
    const owed = post({
      accountId,
      kind: 'seller-posting',
      subjectId: newId(),
      wallet: { balance: -debt, mayOverdraw: true },
      lines: buildMovementLines(-debt, { from: `payable:${accountId}`, to: `wallet:${accountId}` }),
    });
    const payout = post({
      accountId,
      kind: 'settlement-completed',
      subjectId: settlement._id,
      wallet: { balance: 0, held: -1, needsNoDebt: true },
      lines: buildMovementLines(1, { from: `held:${accountId}`, to: 'platform:bank' }),
    });
    expect(await owed).to.include({ outcome: 'posted' });
    expect(await payout).to.deep.equal({ outcome: 'insufficient', balance: -debt });
  });
});
