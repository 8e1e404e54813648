import { expect } from 'chai';
import { createDeposit } from '../../../src/deposits/create-deposit.js';
import { formatIsoTime, findTimeZone } from '../../../src/shared/business-time.js';
import { PurchaseModel } from '../../../src/purchases/purchase.model.js';
import { newId } from '../../../src/shared/ids.js';
import { someTransaction } from '../../webhooks/support/accounts.js';
import { useApi } from '../support/api.js';

describe('times in a zone', () => {
  it('have the offset of the instant, in summer and winter, and milliseconds', () => {
    const summer = new Date('2026-07-23T12:05:00.000Z');
    const winter = new Date('2026-11-23T12:05:00.123Z');
    expect(formatIsoTime(winter)).to.equal('2026-11-23T12:05:00.123Z');
    expect(formatIsoTime(winter, 'Asia/Jakarta')).to.equal('2026-11-23T19:05:00.123+07:00');
    expect(formatIsoTime(winter, 'Europe/Amsterdam')).to.equal('2026-11-23T13:05:00.123+01:00');
    expect(formatIsoTime(summer, 'Europe/Amsterdam')).to.equal('2026-07-23T14:05:00.000+02:00');
    // This local hour occurs twice, because summer time ends.
    expect(formatIsoTime(new Date('2026-10-25T00:30:00Z'), 'Europe/Amsterdam')).to.match(
      /T02:30:00.000\+02:00$/,
    );
    expect(formatIsoTime(new Date('2026-10-25T01:30:00Z'), 'Europe/Amsterdam')).to.match(
      /T02:30:00.000\+01:00$/,
    );
  });

  it('a zone has one spelling, and offsets and other words are refused', () => {
    expect(findTimeZone('asia/jAKARTA')).to.equal('Asia/Jakarta');
    for (const name of ['+07:00', 'Mars/Olympus', 'WIB', '', ' ', 'Asia/Jakarta ']) {
      expect(findTimeZone(name), name).to.equal(null);
    }
  });

  describe('in responses', () => {
    const api = useApi();
    const tz = 'Asia/Jakarta';

    const hook = 'http://127.0.0.1:9999/times';

    interface Call {
      path: string;
      key: string;
      body?: object;
      /** Fields that repeat the caller's input without time zone conversion. */
      outside?: string[];
    }

    const without = (names: string[], answer: unknown): unknown =>
      JSON.parse(
        JSON.stringify(answer, (name, value: unknown) => (names.includes(name) ? undefined : value)),
      );

    /** Returns the response with every time converted to Asia/Jakarta. */
    function toJakartaTimes<T>(answer: T): T {
      return JSON.parse(
        JSON.stringify(answer).replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) => formatIsoTime(new Date(at), tz)),
      ) as T;
    }

    it('of lists, single objects and statements are in the requested zone', async () => {
      const buyer = await api.newBuyer(0);
      const seller = await api.newAccount('seller');
      await createDeposit({ account: buyer.account, amount: 50_000, refId: 'one' });
      await createDeposit({ account: seller.account, amount: 200_000, refId: newId() });
      const owners = { accountId: buyer.account._id, sellerId: seller.account._id };
      await PurchaseModel.create(
        someTransaction({ ...owners, refId: 'order-1', status: 'PROCESSING', finalAt: null }),
      );
      const settlement = await api.call({
        path: '/api/seller/settlement/request',
        key: seller.key,
        body: {
          amount: 60_000,
          ref_id: 'out-1',
          bank_account: { bank_code: 'BCA', account_number: '1234567890', account_name: 'Toko' },
        },
      });
      await api.call({ path: '/api/buyer/api/config', key: buyer.key, body: { webhook_url: hook } });
      await api.call({ path: '/api/buyer/api/config', key: buyer.key, body: { webhook_url: `${hook}2` } });
      const settlementId = String(settlement.body.data.settlement_id);
      const calls = [
        { path: '/api/buyer/transactions/order-1', key: buyer.key },
        { path: '/v1/transactions/order-1', key: buyer.key },
        { path: `/api/seller/settlements/${settlementId}`, key: seller.key },
        { path: '/api/buyer/webhooks/deliveries', key: buyer.key, outside: ['payload'] },
        { path: '/api/buyer/transactions', key: buyer.key, body: {} },
        { path: '/api/buyer/transactions/lookup', key: buyer.key, body: { ref_ids: ['order-1'] } },
        { path: '/api/seller/transactions', key: seller.key, body: {} },
        { path: '/api/buyer/deposits', key: buyer.key },
        { path: '/api/seller/settlements', key: seller.key },
        { path: '/api/buyer/statement', key: buyer.key },
        { path: '/api/seller/statement', key: seller.key },
      ];
      for (const { body, outside = [], ...call } of calls as Call[]) {
        const plain = await api.call({ ...call, ...(body && { body }) });
        const local = await api.call(
          body ? { ...call, body: { ...body, tz } } : { ...call, path: `${call.path}?tz=${tz}` },
        );
        expect(JSON.stringify(plain.body), call.path)
          .to.match(/T[\d:.]+Z"/)
          .and.not.include('+07:00');
        expect(local.status, call.path).to.equal(200);
        const [told, meant] = [without(outside, local.body), without(outside, plain.body)];
        expect(JSON.stringify(told), call.path)
          .to.include('+07:00')
          .and.not.match(/T[\d:.]+Z"/);
        expect(told, call.path).to.deep.equal(toJakartaTimes(meant));
        const wrong = await api.call(
          body ? { ...call, body: { ...body, tz: 'WIB' } } : { ...call, path: `${call.path}?tz=WIB` },
        );
        expect(wrong.status, call.path).to.equal(400);
        expect(wrong.body.errors, call.path).to.deep.equal([
          {
            field: 'tz',
            reason: 'wrong_form',
            message: 'tz must be the IANA name of a time zone, such as Asia/Jakarta',
          },
        ]);
      }
      const csv = await api.call({ path: `/api/buyer/statement?format=csv&tz=${tz}`, key: buyer.key });
      expect(String(csv.body).split('\r\n')[1]).to.match(/^[\dT:.-]+\+07:00,deposit,one,/);
    });

    it('the zone does not change the business days of filters', async () => {
      const { key } = await api.newBuyer(50_000);
      const query = 'start_date=2026-01-01&end_date=2026-01-02';
      const plain = await api.call({ path: `/api/buyer/statement?${query}`, key });
      const local = await api.call({ path: `/api/buyer/statement?${query}&tz=America/Los_Angeles`, key });
      const instants = (period: Record<string, string>) => Object.values(period).map((at) => Date.parse(at));
      expect(instants(local.body.data.period as never)).to.deep.equal(
        instants(plain.body.data.period as never),
      );
    });

    it('refuses a zone of more than 64 characters and names the field', async () => {
      const { key } = await api.newBuyer(0);
      const { status, body } = await api.call({ path: `/api/buyer/deposits?tz=${'A'.repeat(65)}`, key });
      expect([status, body.errors[0].field]).to.deep.equal([400, 'tz']);
    });
  });
});
