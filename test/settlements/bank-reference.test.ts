/** Bank references of settlements that operators pay. */
import { expect } from 'chai';
import { env } from '../../config/env.js';
import { createAccount } from '../../src/accounts/create-account.js';
import { requestAdjustment } from '../../src/adjustments/request-adjustment.js';
import { AuditModel } from '../../src/audit/audit.model.js';
import { verifyLedger } from '../../src/reconciliation/ledger/verify-ledger.js';
import { claimSettlement } from '../../src/settlements/claim-settlement.js';
import { completeSettlement, failSettlement, payOut } from '../../src/settlements/pay-out.js';
import { requestSettlement } from '../../src/settlements/request-settlement.js';
import { SettlementModel, type Settlement } from '../../src/settlements/settlement.model.js';
import { ConflictError, DependencyError, type AppError } from '../../src/shared/errors.js';
import { newId } from '../../src/shared/ids.js';
import { withFault } from '../support/mongo-faults.js';
import { useDatabase } from '../webhooks/support/database.js';
import { bankAccount, budi, dewi } from './support/owing-seller.js';

describe('bank references of settlements', () => {
  useDatabase();
  const { PAYOUT_MODE: usual } = env;
  before(() => (env.PAYOUT_MODE = 'manual'));
  after(() => (env.PAYOUT_MODE = usual));

  async function newClaimed(by = budi): Promise<string> {
    const provider = { kind: 'simulator' as const, baseUrl: null, username: 'x', secret: 'y' };
    const { account } = await createAccount({ username: `s${newId()}`, role: 'seller', provider });
    await requestAdjustment({ account, amount: 100_000 }, budi);
    const request = { account, amount: 60_000, bankAccount, refId: newId() };
    const { settlement } = await requestSettlement(request);
    await payOut(settlement._id, account._id);
    await claimSettlement(settlement._id, by);
    return settlement._id;
  }
  const read = (id: string) => SettlementModel.findById(id).orFail().lean<Settlement>();
  const refusal = (work: Promise<unknown>): Promise<AppError | null> =>
    work.then(
      () => null,
      (error: unknown) => error as AppError,
    );
  const isSet = (error: AppError | null) => error !== null;
  const countRefusals = (id: string) =>
    AuditModel.countDocuments({ 'subject.id': id, action: 'settlement.complete.refused' });

  it('stay as they are: another one is refused with 409 and audited', async () => {
    const id = await newClaimed();
    const [own, other] = [`BCA ${newId()}`, `BCA ${newId()}`];
    await completeSettlement(id, budi, { bankReference: own });
    const again = await completeSettlement(id, budi, { bankReference: own });
    expect(again, 'the same call').to.include({ status: 'completed', bankReference: own });
    await completeSettlement(id, budi);
    expect(await countRefusals(id)).to.equal(0);
    const error = await refusal(completeSettlement(id, dewi, { bankReference: other }));
    expect(error).to.be.instanceOf(ConflictError);
    expect(error?.message).to.include(own).and.to.include(other);
    const entry = await AuditModel.findOne({ 'subject.id': id, action: 'settlement.complete.refused' });
    expect(entry).to.deep.include({ actor: dewi.actor, reason: dewi.reason, after: { refused: other } });
    expect(await read(id)).to.include({ bankReference: own });
  });

  it('are refused after a completion without one', async () => {
    const id = await newClaimed();
    await completeSettlement(id, budi);
    const error = await refusal(completeSettlement(id, budi, { bankReference: `BCA ${newId()}` }));
    expect(error?.message).to.include('without a bank reference');
    expect(await countRefusals(id)).to.equal(1);
  });

  it('of two settlements must be confirmed as shared', async () => {
    const [first, second] = [await newClaimed(), await newClaimed(dewi)];
    const bankReference = `BCA ${newId()}`;
    await completeSettlement(first, budi, { bankReference });
    const complete = (sharedReference: boolean) =>
      completeSettlement(second, dewi, { bankReference, sharedReference });
    for (const _ of [1, 2]) {
      const error = await refusal(complete(false));
      expect(error).to.be.instanceOf(ConflictError);
      expect(error?.message).to.include(first);
      expect(error?.atCommandLine).to.include('--shared-reference');
    }
    expect(await read(second)).to.include({ status: 'processing' });
    await complete(true);
    expect(await complete(false), 'repeat').to.include({ status: 'completed', bankReference });
    const entry = await AuditModel.findOne({ 'subject.id': second, action: 'settlement.completed' }).lean();
    expect(entry?.after).to.deep.include({ bankReference, sharedWith: [first] });
  });

  it('of two settlements completed at once are never accepted twice', async () => {
    for (let round = 0; round < 5; round++) {
      const ids = await Promise.all([newClaimed(), newClaimed(), newClaimed()]);
      const bankReference = `BCA ${newId()}`;
      const errors = await Promise.all(
        ids.map((id) => refusal(completeSettlement(id, budi, { bankReference }))),
      );
      expect(errors.filter((each) => each === null).length).to.be.at.most(1);
      errors.filter(isSet).forEach((each) => expect(each).to.be.instanceOf(ConflictError));
    }
  });

  it('of one settlement completed at once with two references: one is stored', async () => {
    for (let round = 0; round < 5; round++) {
      const id = await newClaimed();
      const references = [`BCA ${newId()}`, `BCA ${newId()}`];
      const errors = await Promise.all(
        references.map((bankReference) => refusal(completeSettlement(id, budi, { bankReference }))),
      );
      const { status, bankReference } = await read(id);
      const accepted = references.filter((_, index) => errors[index] === null);
      expect(accepted.length).to.be.at.most(1);
      if (status === 'completed') {
        expect(accepted).to.deep.equal([bankReference]);
      }
    }
  });

  it('survive a lost reply: the repeated call gets the stored settlement', async () => {
    const id = await newClaimed();
    const complete = () => completeSettlement(id, budi, { bankReference: `BCA ${id}` });
    const fault = { commands: ['commitTransaction'], kind: 'reply-lost' as const, probability: 1 };
    expect(await refusal(withFault(fault, complete))).to.be.instanceOf(DependencyError);
    expect(await complete()).to.include({ status: 'completed', bankReference: `BCA ${id}` });
    expect(await AuditModel.countDocuments({ 'subject.id': id, action: 'settlement.completed' })).to.equal(1);
  });

  it('of a failed settlement can be used for another', async () => {
    const [paid, failed, other] = [await newClaimed(), await newClaimed(), await newClaimed()];
    const [used, fresh] = [`BCA ${newId()}`, `BCA ${newId()}`];
    await completeSettlement(paid, budi, { bankReference: used });
    // A refused completion leaves its reference in the settlement.
    expect(await refusal(completeSettlement(failed, budi, { bankReference: used }))).not.to.equal(null);
    await SettlementModel.updateOne({ _id: failed }, { bankReference: fresh });
    expect(await refusal(completeSettlement(other, budi, { bankReference: fresh }))).not.to.equal(null);
    await failSettlement(failed, 'no such account', budi);
    expect(await completeSettlement(other, budi, { bankReference: fresh })).to.include({
      status: 'completed',
    });
  });

  it('leave a valid ledger', async () => {
    expect((await verifyLedger()).findings).to.deep.equal([]);
  });
});
