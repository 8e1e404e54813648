/** A line that names a deposit of another amount must not credit a deposit that has its amount. */
import { expect } from 'chai';
import { callerAs, reason, type Caller } from '../../console/support/console-caller.js';
import { startOperatedStack, type OperatedStack } from '../../console/support/operated-stack.js';
import { encoded, ownAmount, statementOf, type SaidLine } from './statement.js';

interface Planned {
  fingerprint: string;
  lines: { match: string; deposits: { id: string; account: string }[] }[];
}

describe('a bank line that names a deposit of another amount', function () {
  this.timeout(120_000);
  let shop: OperatedStack;
  let caller: Caller;

  before(async () => {
    shop = await startOperatedStack();
    caller = await callerAs(shop, 'finance');
  });
  after(() => shop.stack.stop());

  const preview = (line: SaidLine): Promise<Planned> =>
    caller.ask('previewBankStatement', '/bank-statements/preview', { file: encoded(statementOf(line)) });
  const previewMatch = async (line: SaidLine) => {
    const [planned] = (await preview(line)).lines;
    return [planned?.match, planned?.deposits.map(({ id }) => id)];
  };
  /** Creates two pending deposits of one client. The fitting one is one rupiah smaller. */
  async function twoThatWait() {
    const amount = ownAmount();
    const named = await shop.askForDeposit(amount + 1);
    const fitting = await shop.askForDeposit(amount);
    return { named, fitting, amount };
  }
  const statusOf = async (id: string) =>
    (await shop.stack.db.collection<{ _id: string; status: string }>('deposits').findOne({ _id: id }))
      ?.status;

  it('is reported if it has our id, and no fitting deposit is credited', async () => {
    const { named, fitting, amount } = await twoThatWait();
    const line = { amount, text: `TRSF BUYER ${named.id.toUpperCase()}` };
    expect(await previewMatch(line)).to.deep.equal(['other-amount', [named.id]]);
    const { fingerprint } = await preview(line);
    const body = { file: encoded(statementOf(line)), name: 'x.csv', fingerprint, reason };
    await caller.call('/bank-statements', { ...body, by_amount: true, by_reference: true });
    expect([await statusOf(named.id), await statusOf(fitting.id)]).to.deep.equal(['pending', 'pending']);
  });

  it('is matched by our id before the reference of a fitting deposit', async () => {
    const { named, fitting, amount } = await twoThatWait();
    const text = `TRSF ${named.id} ${fitting.refId}`;
    expect(await previewMatch({ amount, text })).to.deep.equal(['other-amount', [named.id]]);
    expect(await previewMatch({ amount, text: `TRSF ${fitting.refId}` })).to.deep.equal([
      'referenced',
      [fitting.id],
    ]);
    expect(await previewMatch({ amount, text: `${fitting.id} ${named.id}` })).to.deep.equal([
      'named',
      [fitting.id],
    ]);
  });

  it("is reported if it has the client's reference", async () => {
    const { named, amount } = await twoThatWait();
    expect(await previewMatch({ amount, text: `TRSF ${named.refId}` })).to.deep.equal([
      'other-amount',
      [named.id],
    ]);
  });

  it('is reported if our deposit is decided or too old', async () => {
    const { named, amount } = await twoThatWait();
    const line = { amount, text: `TRSF ${named.id}` };
    const deposits = shop.stack.db.collection<{ _id: string }>('deposits');
    await deposits.updateOne(
      { _id: named.id },
      { $set: { createdAt: new Date(Date.now() - 60 * 86_400_000) } },
    );
    expect(await previewMatch(line)).to.deep.equal(['other-amount', [named.id]]);
    expect((await previewMatch({ ...line, amount: amount + 1 }))[0]).to.equal('none');
    await caller.ask('rejectDeposit', `/deposits/${named.id}/reject`, { reason });
    expect(await previewMatch(line)).to.deep.equal(['decided', [named.id]]);
  });
});
