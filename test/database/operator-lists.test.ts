/**
 * Operator lists that read along an index. Their cost does not depend on the number of finished
 * rows.
 */
import { expect } from 'chai';
import { deposits, toStored as depositOf } from '../../src/deposits/deposit.model.js';
import { listDeposits } from '../../src/deposits/list-deposits.js';
import { listSettlements } from '../../src/settlements/find-settlement.js';
import {
  settlements,
  toStored as settlementOf,
  type SettlementStatus,
} from '../../src/settlements/settlement.model.js';
import { newId } from '../../src/shared/ids.js';
import { useDatabase } from '../webhooks/support/database.js';

describe('operator lists', () => {
  useDatabase();

  it('show the oldest open and the newest finished settlements first', async () => {
    const made = (['pending', 'completed', 'failed', 'processing', 'completed'] as const).map(
      (status: SettlementStatus, n) => ({
        _id: newId(),
        accountId: newId(),
        refId: null,
        amount: 50_000,
        fee: 0,
        netAmount: 50_000,
        bankAccount: { bankCode: '014', accountNumber: '1', accountName: 'PT' },
        status,
        needsApproval: false,
        estimatedCompletion: new Date(),
        epoch: 0,
        nextActionAt: null,
        createdAt: new Date(Date.now() + n),
        finalAt: null,
      }),
    );
    await settlements.insertMany(made.map((each) => settlementOf(each as never)));
    const [pending, completed, failed, processing, last] = made.map(({ _id }) => _id);
    const ids = async (...statuses: SettlementStatus[]) =>
      (await listSettlements({ statuses, limit: 10 })).map(({ _id }) => _id);
    expect(await ids('pending', 'processing')).to.deep.equal([pending, processing]);
    expect(await ids('completed')).to.deep.equal([last, completed]);
    expect(await ids('failed')).to.deep.equal([failed]);
  });

  it('show deposits of every status, oldest first', async () => {
    const made = (['completed', 'pending', 'rejected'] as const).map((status, n) => ({
      _id: newId(),
      accountId: newId(),
      refId: newId(),
      amount: 50_000,
      status,
      balanceBefore: 0,
      balanceAfter: 0,
      createdAt: new Date(Date.now() + n),
      completedAt: null,
    }));
    await deposits.insertMany(made.map(depositOf));
    expect((await listDeposits({ limit: 10 })).map(({ _id }) => _id)).to.deep.equal(
      made.map(({ _id }) => _id),
    );
  });
});
