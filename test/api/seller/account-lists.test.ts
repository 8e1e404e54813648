import { expect } from 'chai';
import { listBuyerDeposits } from '../../../src/api/buyer/deposits.js';
import type { AnyOperation } from '../../../src/api/contract/operation.js';
import { listSettlements } from '../../../src/api/seller/settlements.js';
import { DepositModel } from '../../../src/deposits/deposit.model.js';
import { SettlementModel } from '../../../src/settlements/settlement.model.js';
import { newId } from '../../../src/shared/ids.js';
import { uniqueRef } from '../../support/api-client.js';
import { useApi } from '../support/api.js';
import { expectFailure, expectSuccess } from '../support/expect-answer.js';

interface Kind {
  role: 'buyer' | 'seller';
  operation: AnyOperation;
  path: string;
  field: string;
  write: (row: {
    accountId: string;
    refId: string;
    status: 'pending' | 'completed';
    createdAt: Date;
  }) => Promise<unknown>;
}

const kinds: Kind[] = [
  {
    role: 'buyer',
    operation: listBuyerDeposits,
    path: '/api/buyer/deposits',
    field: 'deposits',
    write: (row) =>
      DepositModel.create([{ _id: newId(), ...row, amount: 50_000, balanceBefore: 0, balanceAfter: 0 }]),
  },
  {
    role: 'seller',
    operation: listSettlements,
    path: '/api/seller/settlements',
    field: 'settlements',
    write: (row) =>
      SettlementModel.create([
        {
          _id: newId(),
          ...row,
          amount: 60_000,
          fee: 2_500,
          netAmount: 57_500,
          needsApproval: false,
          bankAccount: { bankCode: '014', accountNumber: '1234567890', accountName: 'PT' },
          epoch: 0,
          estimatedCompletion: new Date(),
        },
      ]),
  },
];

describe('lists of deposits and settlements', () => {
  const api = useApi();

  for (const { role, operation, path, field, write } of kinds) {
    it(`${field}: paged newest first, filtered, without rows of other accounts`, async () => {
      const { key, account } = await api.newAccount(role);
      const refs = Array.from({ length: 5 }, () => uniqueRef());
      const days = ['2024-03-05', '2024-03-04', '2024-03-03', '2024-03-02', '2024-03-01'];
      for (const [index, refId] of refs.entries()) {
        const status = index === 2 ? 'completed' : 'pending';
        await write({
          accountId: account._id,
          refId,
          status,
          createdAt: new Date(`${days[index] ?? ''}T12:00:00Z`),
        });
      }
      const read = async (query: Record<string, string>, by = key) => {
        const answer = await api.call({ path: `${path}?${new URLSearchParams(query).toString()}`, key: by });
        expectSuccess(answer, operation);
        const data = answer.body.data as Record<string, unknown> & { next_cursor: string | null };
        return {
          refs: (data[field] as { ref_id: string }[]).map((each) => each.ref_id),
          next: data.next_cursor,
        };
      };
      const first = await read({ limit: '3' });
      expect(first.refs).to.deep.equal(refs.slice(0, 3));
      const rest = await read({ limit: '3', cursor: first.next ?? '' });
      expect(rest).to.deep.equal({ refs: refs.slice(3), next: null });
      expect((await read({ status: 'COMPLETED' })).refs).to.deep.equal([refs[2]]);
      expect((await read({ ref_id: refs[4] ?? '' })).refs).to.deep.equal([refs[4]]);
      expect((await read({ start_date: '2024-03-02', end_date: '2024-03-03' })).refs).to.deep.equal(
        refs.slice(2, 4),
      );
      // Times with microseconds and nanoseconds, which other languages produce.
      const exact = {
        start_date: '2024-03-01T17:00:00.000001Z',
        end_date: '2024-03-03T16:59:59.999999999Z',
      };
      expect((await read(exact)).refs).to.deep.equal(refs.slice(2, 4));
      const stranger = await api.newAccount(role);
      expect((await read({}, stranger.key)).refs).to.deep.equal([]);
      expect((await read({ ref_id: refs[0] ?? '' }, stranger.key)).refs).to.deep.equal([]);
      for (const [name, value] of [
        ['start_date', '01-03-2024'],
        ['end_date', '2024-02-30'],
        ['status', 'lost'],
        ['cursor', 'x'],
        ['limit', '101'],
      ] as const) {
        const answer = await api.call({ path: `${path}?${name}=${value}`, key });
        expectFailure(answer, { status: 400, code: '01' });
        expect(answer.body.message, name).to.match(new RegExp(`^${name} must be `));
      }
      const turned = await api.call({ path: `${path}?start_date=2024-03-02&end_date=2024-03-01`, key });
      expect(turned.body.errors).to.deep.equal([
        { field: 'end_date', reason: 'out_of_range', message: 'end_date must not be before start_date' },
      ]);
    });
  }
});
