import { expect } from 'chai';
import { DateTime } from 'luxon';
import { env } from '../../../config/env.js';
import type { AnyOperation } from '../../../src/api/contract/operation.js';
import { OfferModel } from '../../../src/products/offer.model.js';
import { now } from '../../../src/shared/clock.js';
import { PurchaseModel } from '../../../src/purchases/purchase.model.js';
import { WalletModel } from '../../../src/money/wallets/wallet.model.js';
import { writeAndInvalidate } from '../../../src/redis/publish-changes.js';
import { uniqueRef } from '../../support/api-client.js';
import type { TestApi } from './api.js';
import { newProduct } from './catalogue.js';
import { expectFailure, expectSuccess } from './expect-answer.js';
import { itRefusesBodies, notText, notWhole } from './refusals.js';

/** A surface that creates purchases, with its field names. */
export interface PurchaseSurface {
  operation: AnyOperation;
  fields: { code: string; number: string };
  /** The HTTP status for a new purchase. */
  createdStatus: 200 | 201;
}

/** Tests the behaviour of a purchase that all surfaces share (docs/reference/api/purchases.md). */
export function itFollowsPurchaseContract(
  api: TestApi,
  { operation, fields, createdStatus }: PurchaseSurface,
): void {
  const { path } = operation;
  const bodyOf = (code: string, over: Record<string, unknown> = {}) => ({
    [fields.code]: code,
    [fields.number]: '081234561230',
    ref_id: uniqueRef(),
    ...over,
  });
  const good = () => ({ path, body: bodyOf('S10') });
  const balanceOf = async (id: string) => Number((await WalletModel.findById(id).lean())?.balance);

  itRefusesBodies(api, operation, good, {
    [fields.code]: [...notText, undefined, '', 'x'.repeat(51), 'S 10', 'S10\n', '../S10', '__proto__ '],
    [fields.number]: [...notText, undefined, '', 'x'.repeat(101), '0812\u000034561230', '0812\n'],
    ref_id: [...notText, undefined, '', 'x'.repeat(65), 'a b', 'a/b', 'a\u0000', 'référence'],
    max_price: [...notWhole, -1, 2 ** 53],
  });

  it('debits the price at once and returns the transaction', async () => {
    const product = await newProduct(api, { price: 10_500 });
    const { key, account } = await api.newBuyer(10_500);
    const body = bodyOf(product._id);
    const answer = await api.call({ path, key, body });
    expectSuccess(answer, operation, { status: createdStatus });
    expect(answer.body.data).to.include({ ref_id: body['ref_id'], price: 10_500 });
    expect(await balanceOf(account._id)).to.equal(0);
  });

  it('accepts the longest ref_id and ignores unknown fields', async () => {
    const product = await newProduct(api);
    const { key } = await api.newBuyer(100_000);
    const ref = uniqueRef('x'.repeat(20)).padEnd(64, ':');
    const answer = await api.call({ path, key, body: bodyOf(product._id, { ref_id: ref, colour: 'red' }) });
    expectSuccess(answer, operation, { status: createdStatus });
    expect(answer.body.data.ref_id).to.equal(ref);
  });

  it('returns 402/01 if one rupiah is missing, and creates nothing', async () => {
    const product = await newProduct(api, { price: 60_001 });
    const { key, account } = await api.newBuyer(60_000);
    expectFailure(await api.call({ path, key, body: bodyOf(product._id) }), { status: 402, code: '01' });
    expect(await balanceOf(account._id)).to.equal(60_000);
    expect(await PurchaseModel.countDocuments({ accountId: account._id })).to.equal(0);
  });

  it('returns 404/02 for an unknown or inactive product or one without offers', async () => {
    const { key } = await api.newBuyer(100_000);
    const inactive = await newProduct(api, { status: 'inactive' });
    const orphan = await newProduct(api);
    await writeAndInvalidate([OfferModel], null, (rows) => rows.deleteMany({ productCode: orphan._id }));
    for (const code of ['NO-SUCH-PRODUCT', '__proto__', inactive._id, orphan._id]) {
      expectFailure(await api.call({ path, key, body: bodyOf(code) }), { status: 404, code: '02' });
    }
  });

  it('returns 503/03 with Retry-After in maintenance or during the cut-off', async () => {
    const { key } = await api.newBuyer(100_000);
    const maintained = await newProduct(api, { status: 'maintenance' });
    const closed = await newProduct(api, { cutOff: hourAround(now()) });
    for (const { _id } of [maintained, closed]) {
      expectFailure(await api.call({ path, key, body: bodyOf(_id) }), { status: 503, code: '03' });
    }
  });

  it('refuses a number that does not fit the product with 422/04', async () => {
    const { key } = await api.newBuyer(100_000);
    const { _id } = await newProduct(api);
    for (const number of ['0812', '081712345678', '08123456789012345', 'abcdefgh', '+6281234']) {
      const answer = await api.call({ path, key, body: bodyOf(_id, { [fields.number]: number }) });
      expectFailure(answer, { status: 422, code: '04' });
    }
  });

  it('buys at max_price and refuses one rupiah below it with 409/01', async () => {
    const { key, account } = await api.newBuyer(100_000);
    const { _id, price } = await newProduct(api);
    const refused = await api.call({ path, key, body: bodyOf(_id, { max_price: price - 1 }) });
    expectFailure(refused, { status: 409, code: '01', field: 'max_price' });
    expect(await balanceOf(account._id)).to.equal(100_000);
    const bought = await api.call({ path, key, body: bodyOf(_id, { max_price: price }) });
    expectSuccess(bought, operation, { status: createdStatus });
  });

  it('refuses a postpaid product with 400/01 and names the right call', async () => {
    const { key } = await api.newBuyer(100_000);
    const { _id } = await newProduct(api, { category: 'pascabayar', customerNumber: { kind: 'bill' } });
    const answer = await api.call({ path, key, body: bodyOf(_id, { [fields.number]: '123456789012' }) });
    expectFailure(answer, { status: 400, code: '01', message: /payment|inquiry/ });
  });

  it('a repeat returns 200/05 with the same transaction and debits once', async () => {
    const product = await newProduct(api, { price: 10_000 });
    const { key, account } = await api.newBuyer(100_000);
    const body = bodyOf(product._id);
    const first = await api.call({ path, key, body });
    for (const number of ['081234561230', '+6281234561230', '62 812-3456-1230']) {
      const again = await api.call({ path, key, body: { ...body, [fields.number]: number } });
      expectSuccess(again, operation, { status: 200, code: '05' });
      expect(again.body.data).to.deep.equal(first.body.data);
    }
    expect(await balanceOf(account._id)).to.equal(90_000);
  });

  it('a repeat after the final state returns 200/00 with the result and debits once', async () => {
    const product = await newProduct(api, { price: 10_000 });
    const { key, account } = await api.newBuyer(100_000);
    const body = bodyOf(product._id);
    await api.call({ path, key, body });
    const final = { status: 'SUCCESS', serialNumber: 'SN-1', message: 'Success', finalAt: new Date() };
    await PurchaseModel.updateOne({ accountId: account._id }, { $set: final });
    const again = await api.call({ path, key, body });
    expectSuccess(again, operation, { status: 200, code: '00' });
    expect(again.body.data.status).to.match(/^success$/i);
    expect(again.body.data.sn ?? again.body.data.serial_number).to.equal('SN-1');
    expect(await balanceOf(account._id)).to.equal(90_000);
  });

  it('refuses the same ref_id with another product or number with 409/01', async () => {
    const [product, other] = [await newProduct(api), await newProduct(api)];
    const { key, account } = await api.newBuyer(100_000);
    const body = bodyOf(product._id);
    await api.call({ path, key, body });
    const balance = await balanceOf(account._id);
    for (const change of [{ [fields.code]: other._id }, { [fields.number]: '081234561231' }]) {
      expectFailure(await api.call({ path, key, body: { ...body, ...change } }), { status: 409, code: '01' });
    }
    expect(await balanceOf(account._id)).to.equal(balance);
  });

  it('two accounts can use the same ref_id', async () => {
    const product = await newProduct(api);
    const [one, two] = [await api.newBuyer(50_000), await api.newBuyer(50_000)];
    const body = bodyOf(product._id);
    const first = await api.call({ path, key: one.key, body });
    const second = await api.call({ path, key: two.key, body });
    expectSuccess(second, operation, { status: createdStatus });
    expect(JSON.stringify(second.body.data)).to.not.equal(JSON.stringify(first.body.data));
  });
}

/** Returns a one-hour window around `at` in the business time zone. */
function hourAround(at: Date): { start: string; end: string } {
  const local = DateTime.fromJSDate(at, { zone: env.BUSINESS_TIMEZONE });
  return {
    start: local.minus({ minutes: 30 }).toFormat('HH:mm'),
    end: local.plus({ minutes: 30 }).toFormat('HH:mm'),
  };
}
