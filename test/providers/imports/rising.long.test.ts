/** A fivefold price suggests one zero too many. No other check detects it. */
import { expect } from 'chai';
import { Long } from 'mongodb';
import { callerAs, reason, type Caller } from '../../console/support/console-caller.js';
import { startOperatedStack, type OperatedStack } from '../../console/support/operated-stack.js';
import { addProduct } from '../provider-stack.js';

describe('steep price rises in a list', function () {
  this.timeout(120_000);
  let shop: OperatedStack;
  let caller: Caller;
  let sellerId: string;

  before(async () => {
    shop = await startOperatedStack();
    caller = await callerAs(shop, 'operations');
    sellerId = String((await shop.stack.db.collection('accounts').findOne({ username: 'seller' }))?._id);
  });
  after(() => shop.stack.stop());

  const offers = () => shop.stack.db.collection<{ _id: string; price: number }>('offers');
  const product = (price: number) => addProduct(shop.stack, [{ sellerId, price }]);
  const priceOf = async (code: string) =>
    Number((await offers().findOne({ _id: `${code}:${sellerId}` }))?.price);
  const csv = (...lines: string[]) =>
    Buffer.from(['code,seller,price,status', ...lines].join('\n')).toString('base64');

  it('need confirmation from five times the price, and are listed first', async () => {
    const [less, five, ten, falls, free] = [
      await product(10_000),
      await product(10_000),
      await product(10_500),
      await product(10_000),
      await product(1),
    ];
    await offers().updateOne(
      { _id: `${free}:${sellerId}` },
      { $set: { price: Long.fromNumber(0) as unknown as number } },
    );
    const file = csv(
      `${less},seller,49999,`,
      `${five},seller,50000,`,
      `${ten},seller,105000,`,
      `${falls},seller,1000,`,
      `${free},seller,1000,`,
    );
    const plan = await caller.ask('previewPriceImport', '/price-imports/preview', { file });
    expect(plan).to.include({ found: 5, losing: 0, falling: 1, rising: 3 });
    expect(
      plan.changes.map(({ line, falls: down, rises }: { line: number; falls: boolean; rises: boolean }) => [
        line,
        down,
        rises,
      ]),
    ).to.deep.equal([
      [5, true, false],
      [6, false, true],
      [4, false, true],
      [3, false, true],
      [2, false, false],
    ]);
    const body = { file, name: 'list.csv', fingerprint: plan.fingerprint, reason };
    const refused = await caller.call('/price-imports', body);
    expect(refused.status, refused.text).to.equal(409);
    expect(refused.text)
      .to.include('by more than half at 1 lines (5)')
      .and.include('to five times or more at 3 lines (6, 4, 3)');
    expect(await priceOf(five)).to.equal(10_000);
    const applied = await caller.ask('applyPriceImport', '/price-imports', { ...body, meant: true });
    expect(applied).to.include({ changed: 5 });
    expect(await priceOf(ten)).to.equal(105_000);
  });

  it('an unchanged price with a new status is not a rise', async () => {
    const code = await product(10_000);
    const file = csv(`${code},seller,10000,maintenance`);
    const plan = await caller.ask('previewPriceImport', '/price-imports/preview', { file });
    expect(plan).to.include({ found: 1, rising: 0 });
  });
});
