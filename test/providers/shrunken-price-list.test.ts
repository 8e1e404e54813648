/** Price lists that are empty, much smaller or partly unreadable. */
import { expect } from 'chai';
import { createAccount } from '../../src/accounts/create-account.js';
import type { Account } from '../../src/accounts/account.model.js';
import { OfferModel, type Offer } from '../../src/products/offer.model.js';
import { ProviderStateModel, type ProviderState } from '../../src/providers/provider-state.model.js';
import { getRoutingSellers } from '../../src/providers/routing-cache.js';
import { comparePriceList } from '../../src/providers/compare-price-list.js';
import { syncPriceList } from '../../src/providers/refresh-providers.js';
import { setClock } from '../../src/shared/clock.js';
import { newId } from '../../src/shared/ids.js';
import { writeAndInvalidate } from '../../src/redis/publish-changes.js';
import { evaluateAlarms } from '../../src/signals/alarm-rules.js';
import { gatherFigures } from '../../src/signals/gather-figures.js';
import { useDatabase } from '../webhooks/support/database.js';
import { startPlayServer, type PlayServer } from './play-server.js';

const minuteMs = 60_000;
const buildRow = (code: string, change: object = {}) => ({
  buyer_sku_code: code,
  price: 10_000,
  buyer_product_status: true,
  seller_product_status: true,
  ...change,
});

describe('a price list', () => {
  useDatabase();
  let server: PlayServer;
  let account: Account;
  let list: object[];
  let mark = '';
  const codes = Array.from({ length: 6 }, (_, at) => `p${at}`);

  before(async () => {
    server = await startPlayServer((call, response) => {
      const { cmd } = JSON.parse(call.raw) as { cmd: string };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`${mark}${JSON.stringify({ data: cmd === 'pasca' ? [] : list })}`);
    });
  });
  after(() => server.stop());
  afterEach(() => setClock(null));

  beforeEach(async () => {
    mark = '';
    list = codes.map((code) => buildRow(code));
    ({ account } = await createAccount({
      username: `s${newId()}`,
      role: 'seller',
      provider: { kind: 'digiflazz', baseUrl: server.url, username: 'us', secret: 'key' },
    }));
    await writeAndInvalidate([OfferModel], null, (rows) =>
      rows.create(
        codes.map((productCode) => ({
          _id: `${productCode}:${account._id}`,
          productCode,
          sellerId: account._id,
          price: 12_000,
          status: 'active' as const,
        })),
      ),
    );
    expect(await syncPriceList(account)).to.equal(6);
  });

  async function countOpen(): Promise<number> {
    const offers = await OfferModel.find({ sellerId: account._id }).lean<Offer[]>();
    return offers.filter(({ providerAvailable, cost }) => providerAvailable && cost === 10_000).length;
  }

  async function hasAlarm(): Promise<boolean> {
    const { firing } = evaluateAlarms(await gatherFigures());
    const username = (await getRoutingSellers()).get(account._id)?.username ?? '';
    return firing.some(
      ({ name, id }) =>
        name === 'TopupProviderListShrank' && (id.includes(account._id) || id.includes(username)),
    );
  }

  for (const [what, left] of [
    ['is empty', 0],
    ['has less than half of its rows', 2],
  ] as const) {
    it(`that ${what} closes no offer and begins an alarm`, async () => {
      list = list.slice(0, left);
      expect(await syncPriceList(account)).to.equal(null);
      expect(await countOpen()).to.equal(6);
      expect(await hasAlarm()).to.equal(true);
      list = codes.map((code) => buildRow(code));
      expect(await syncPriceList(account)).to.equal(6);
      expect(await hasAlarm(), 'alarm after the whole list').to.equal(false);
    });
  }

  it('with half of its rows is believed at once', async () => {
    list = list.slice(0, 3);
    expect(await syncPriceList(account)).to.equal(3);
    expect(await countOpen()).to.equal(3);
  });

  it('that stays much smaller for an hour is believed', async () => {
    list = list.slice(0, 1);
    const startedAt = Date.now();
    for (const minutes of [0, 20, 40, 59]) {
      setClock(() => startedAt + minutes * minuteMs);
      expect(await syncPriceList(account), `after ${minutes} min`).to.equal(null);
    }
    expect(await countOpen()).to.equal(6);
    setClock(() => startedAt + 61 * minuteMs);
    expect(await syncPriceList(account)).to.equal(1);
    expect(await countOpen()).to.equal(1);
    expect(await hasAlarm()).to.equal(false);
    const state = await ProviderStateModel.findById(account._id).lean<ProviderState>();
    expect(state?.priceList).to.deep.equal({ rows: 1, doubt: null });
  });

  it('that changes its size while it is doubted waits for another hour', async () => {
    const startedAt = Date.now();
    for (const [minutes, left] of [
      [0, 0],
      [30, 0],
      [59, 1],
      [90, 1],
      [118, 1],
    ] as const) {
      list = codes.slice(0, left).map((code) => buildRow(code));
      setClock(() => startedAt + minutes * minuteMs);
      expect(await syncPriceList(account), `after ${minutes} min`).to.equal(null);
    }
    expect(await countOpen()).to.equal(6);
  });

  it('with blanks around its codes and a BOM is read', async () => {
    mark = '\ufeff';
    list = codes.map((code) => buildRow(` ${code}\u00a0 `));
    expect(await syncPriceList(account)).to.equal(6);
    expect(await countOpen()).to.equal(6);
  });

  it('with a row that cannot be read changes the other offers, and not that one', async () => {
    list = codes.map((code) => buildRow(code, { price: code === 'p0' ? { rupiah: 1 } : 11_000 }));
    list.push({ price: 1 });
    expect(await syncPriceList(account)).to.equal(6);
    const offers = await OfferModel.find({ sellerId: account._id }).sort({ productCode: 1 }).lean<Offer[]>();
    expect(offers.map(({ cost }) => cost)).to.deep.equal([10_000, ...Array<number>(5).fill(11_000)]);
    const { differences } = await comparePriceList(account);
    expect(differences.map(({ productCode, what }) => `${productCode} ${what}`)).to.deep.equal([
      'p0 unreadable',
    ]);
  });
});
