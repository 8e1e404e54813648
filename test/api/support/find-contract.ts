import { expect } from 'chai';
import type { AnyOperation } from '../../../src/api/contract/operation.js';
import { PurchaseModel, type PurchaseStatus } from '../../../src/purchases/purchase.model.js';
import { someTransaction } from '../../webhooks/support/accounts.js';
import type { TestApi } from './api.js';
import { expectFailure, expectSuccess } from './expect-answer.js';

/** Tests the lookup of a single transaction, which is the same on both surfaces. */
export function itFollowsLookupContract(
  api: TestApi,
  of: {
    operation: AnyOperation;
    pathOf: (ref: string) => string;
    /** The value that the surface shows for each purchase status. */
    statuses: Record<PurchaseStatus, string>;
  },
): void {
  const { operation, pathOf, statuses } = of;

  for (const [status, shown] of Object.entries(statuses) as [PurchaseStatus, string][]) {
    it(`finds a ${status} transaction by ref_id and by id as ${shown}`, async () => {
      const { key, account } = await api.newBuyer();
      const stored = someTransaction({ accountId: account._id, status });
      await PurchaseModel.create([stored]);
      const byRef = await api.call({ path: pathOf(stored.refId), key });
      const byId = await api.call({ path: pathOf(stored._id), key });
      expectSuccess(byRef, operation);
      expect(byRef.body.data).to.include({ ref_id: stored.refId, status: shown, price: stored.price });
      expect(byId.body.data).to.deep.equal(byRef.body.data);
    });
  }

  it('returns 404/02 for an unknown reference', async () => {
    const { key } = await api.newBuyer();
    for (const ref of ['no-such-ref', '__proto__', '%24gt', 'a%2Fb', 'x'.repeat(64)]) {
      expectFailure(await api.call({ path: pathOf(ref), key }), { status: 404, code: '02' });
    }
  });

  it("returns 404/02 for another account's transaction, by ref_id and by id", async () => {
    const [owner, stranger] = [await api.newBuyer(), await api.newBuyer()];
    const stored = someTransaction({ accountId: owner.account._id });
    await PurchaseModel.create([stored]);
    for (const ref of [stored._id, stored.refId]) {
      expectFailure(await api.call({ path: pathOf(ref), key: stranger.key }), { status: 404, code: '02' });
    }
  });

  it('refuses a reference that is too long or malformed with 400/01', async () => {
    const { key } = await api.newBuyer();
    for (const ref of ['x'.repeat(65), 'a%00b', '%ff']) {
      expectFailure(await api.call({ path: pathOf(ref), key }), { status: 400, code: '01' });
    }
  });
}
