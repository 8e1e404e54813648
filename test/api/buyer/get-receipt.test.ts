import { inflateSync } from 'node:zlib';
import { expect } from 'chai';
import { request } from 'undici';
import { QuoteModel } from '../../../src/bills/quote.model.js';
import { PurchaseModel, type Purchase } from '../../../src/purchases/purchase.model.js';
import { newId } from '../../../src/shared/ids.js';
import { someTransaction } from '../../webhooks/support/accounts.js';
import { uniqueRef } from '../../support/api-client.js';
import { useApi } from '../support/api.js';

const at = new Date('2026-11-23T12:05:06.000Z');
const serialNumber = '12345678901234567890/RINA S/D HARTONO/R1/900VA/71,3';

describe('receipt of a purchase', () => {
  const api = useApi();
  let key: string;
  let accountId: string;
  before(async () => {
    const buyer = await api.newBuyer(0);
    key = buyer.key;
    accountId = buyer.account._id;
  });

  async function insertPurchase(over: Partial<Purchase> = {}): Promise<Purchase> {
    const purchase = someTransaction({
      accountId,
      refId: uniqueRef('R'),
      price: 20_123,
      createdAt: at,
      finalAt: at,
      ...over,
    });
    await PurchaseModel.create(purchase);
    return purchase;
  }

  async function receiptOf({ _id }: { _id: string }, query = '') {
    const path = `/api/buyer/transactions/${_id}/receipt${query}`;
    const answer = await request(api.url() + path, { headers: { authorization: `Bearer ${key}` } });
    expect([answer.statusCode, answer.headers['content-type']]).to.deep.equal([200, 'application/pdf']);
    expect(answer.headers['content-disposition']).to.equal(`attachment; filename="receipt-${_id}.pdf"`);
    return Buffer.from(await answer.body.arrayBuffer());
  }

  it('of a PLN token shows customer details, the token in groups, and the price', async () => {
    const purchase = await insertPurchase({
      subcategory: 'pln',
      productName: 'Token PLN 20.000',
      serialNumber,
    });
    const file = await receiptOf(purchase, '?title=Toko%20Sari&sold_price=22000');
    expect(linesOf(file)).to.deep.equal([
      'Toko Sari',
      'STRUK PEMBELIAN',
      'Waktu: 23-11-2026 19:05 WIB',
      `No. ref: ${purchase.refId}`,
      'ID transaksi:',
      purchase._id,
      'Produk: Token PLN 20.000',
      'No. pelanggan: 081234561230',
      'Nama: RINA S/D HARTONO',
      'Tarif/daya: R1/900VA',
      'Jumlah kWh: 71,3',
      'TOKEN',
      '1234-5678-9012-3456-7890',
      'Harga: Rp 22.000',
      'Terima kasih',
    ]);
    const sizes = [...contentOf(file).matchAll(/\/\S+ ([\d.]+) Tf/g)].map(([, size]) => Number(size));
    expect(Math.max(...sizes)).to.be.above(10);
    expect(file.toString('latin1')).to.include('/MediaBox [ 0 0 164.4');
    expect(file.toString('latin1').match(/Date \(D:20261123120506Z\)/g)).to.have.length(2);
    expect(file.equals(await receiptOf(purchase, '?title=Toko%20Sari&sold_price=22000'))).to.equal(true);
  });

  it("in English on wide paper does not show the shop's cost", async () => {
    const purchase = await insertPurchase({ serialNumber: '0041002345678901' });
    const file = await receiptOf(purchase, '?lang=en&width=80');
    const text = linesOf(file).join('\n');
    expect(text).to.include('RECEIPT\nTime: 23-11-2026 19:05').and.include('SN: 0041002345678901\nThank you');
    expect(text).to.not.match(/20.?123|Price|Total/);
    expect(file.toString('latin1')).to.include('/MediaBox [ 0 0 226.7');
  });

  it('of a bill shows the period and amounts, and counts any surplus as the fee', async () => {
    const quoteId = newId();
    const quote = { accountId, productCode: 'PLNPOST', customerNumber: '530000000001', sellerId: newId() };
    const bill = { customerName: 'BUDI', billPeriod: '2026-10', totalBill: 150_000, adminFee: 2_500 };
    const rest = {
      status: 'open' as const,
      totalAmount: 152_500,
      refusal: null,
      createdAt: at,
      expiresAt: at,
    };
    const purchase = await insertPurchase({
      kind: 'postpaid',
      quoteId,
      price: 152_500,
      serialNumber: 'BILL-1',
    });
    await QuoteModel.create({ _id: quoteId, ...quote, ...bill, ...rest, usedBy: purchase._id });
    const shown = async (query: string) => linesOf(await receiptOf(purchase, query)).slice(-6, -1);
    expect(await shown('?width=80')).to.deep.equal([
      'Periode: 2026-10',
      'SN: BILL-1',
      'Tagihan: Rp 150.000',
      'Biaya admin: Rp 2.500',
      'Total: Rp 152.500',
    ]);
    expect(await shown('?width=80&sold_price=155000')).to.deep.equal([
      'Periode: 2026-10',
      'SN: BILL-1',
      'Tagihan: Rp 150.000',
      'Biaya admin: Rp 5.000',
      'Total: Rp 155.000',
    ]);
    const cheap = await api.call({
      path: `/api/buyer/transactions/${purchase._id}/receipt?sold_price=149999`,
      key,
    });
    expect([cheap.status, cheap.body.errors]).to.deep.equal([
      400,
      [
        {
          field: 'sold_price',
          reason: 'not_accepted',
          message: 'sold_price must be at least the amount of the bill, Rp 150.000',
        },
      ],
    ]);
    const details = {
      periods: ['2026-09', '2026-10'],
      tariff: 'R1',
      power: '1300',
      penalty: 500,
      sheetDetails: [{ meterStart: '00080000', meterEnd: '00085000' }, { meterEnd: '00090000' }],
    };
    await QuoteModel.updateOne({ _id: quoteId, accountId }, { $set: { details } });
    expect(linesOf(await receiptOf(purchase, '?width=80'))).to.include.members([
      'Periode: 2026-09, 2026-10',
      'Tarif/daya: R1/1300',
      'Stand meter: 00080000 - 00090000',
      'Termasuk denda: Rp 500',
    ]);
    // The quote includes the operator's markup on the fee.
    await QuoteModel.updateOne({ _id: quoteId, accountId }, { $set: { markup: 1_000 } });
    expect((await shown('?width=80')).slice(-2)).to.deep.equal([
      'Biaya admin: Rp 3.500',
      'Total: Rp 153.500',
    ]);
  });

  it('shows characters that it cannot print as "?", explains this, and wraps words', async () => {
    const purchase = await insertPurchase({
      productName: `Diamond \u{1f48e} \u7f8e\u202e ${'x'.repeat(70)}`,
    });
    for (const [language, note] of [
      ['id', '? = huruf yang tidak dapat dicetak. Teks lengkap ada di data transaksi.'],
      ['en', '? = a character that cannot be printed. The transaction has the full text.'],
    ] as const) {
      const lines = linesOf(await receiptOf(purchase, `?lang=${language}`));
      expect(lines.join('')).to.include(`x`.repeat(70).slice(0, 60)).and.include('Diamond ? ?');
      expect(lines.slice(-3).join(' ')).to.equal(note);
      expect(Math.max(...lines.map(({ length }) => length))).to.be.at.most(33);
    }
  });

  it('prints accents in any Unicode form, without a note', async () => {
    const purchase = await insertPurchase({ productName: 'Cafe\u0301 Zoe\u0308' });
    const lines = linesOf(await receiptOf(purchase));
    expect(lines).to.include('Produk: Caf\u00e9 Zo\u00eb').and.include('Terima kasih');
    expect(lines.at(-1)).to.equal('Terima kasih');
  });

  const reviewSince = at;
  for (const [name, over, [en, id]] of [
    ['that is pending', { status: 'PENDING' }, [/still being processed/, /masih diproses/]],
    ['that is being processed', { status: 'PROCESSING' }, [/still being processed/, /masih diproses/]],
    ['under review', { status: 'PROCESSING', reviewSince }, [/still being processed/, /masih diproses/]],
    ['that failed', { status: 'FAILED' }, [/failed and its money was returned/, /gagal dan dananya sudah/]],
    [
      'that was reversed',
      { status: 'REFUNDED' },
      [/reversed after its success, and its money was returned/, /lalu dibatalkan, dan/],
    ],
  ] as const) {
    it(`refuses a purchase ${name} with 409/01 and names the buyer's reference`, async () => {
      const purchase = await insertPurchase(over);
      for (const [language, words] of [
        ['en', en],
        ['id', id],
      ] as const) {
        const { status, body } = await api.call({
          path: `/api/buyer/transactions/${purchase._id}/receipt`,
          key,
          headers: { 'accept-language': language },
        });
        expect([status, body.code, body.reason]).to.deep.equal([409, '01', 'receipt_not_available']);
        expect(body.message).to.match(words).and.include(purchase.refId).and.not.include(purchase._id);
        if (/FAILED|REFUNDED/.test(purchase.status)) {
          expect(body.message).to.not.match(/\b(not yet|once|belum|setelah)\b/);
        }
      }
    });
  }

  it("another buyer's purchase is not found, and a seller is refused", async () => {
    const { _id } = await insertPurchase();
    const path = `/api/buyer/transactions/${_id}/receipt`;
    const other = await api.newBuyer(0);
    expect((await api.call({ path, key: other.key })).status).to.equal(404);
    const seller = await api.newAccount('seller');
    expect((await api.call({ path, key: seller.key })).status).to.equal(403);
    expect((await api.call({ path })).status).to.equal(401);
  });

  for (const [field, query] of [
    ['width', 'width=57'],
    ['lang', 'lang=fr'],
    ['title', `title=${'a'.repeat(41)}`],
    ['title', 'title=%E7%BE%8E'],
    ['title', 'title=a%0Ab'],
    ['sold_price', 'sold_price=-1'],
    ['sold_price', 'sold_price=1000000000'],
  ] as const) {
    it(`refuses ${query.slice(0, 30)} with 400/01 naming ${field}`, async () => {
      const path = `/api/buyer/transactions/order/receipt?${query}`;
      const { status, body } = await api.call({ path, key });
      expect([status, body.errors?.[0]?.field]).to.deep.equal([400, field]);
    });
  }
});

function contentOf(pdf: Buffer): string {
  const text = pdf.toString('latin1');
  return [...text.matchAll(/stream\r?\n/g)]
    .filter(({ index }) => text.slice(index - 3, index) !== 'end')
    .map(({ 0: mark, index }) => {
      const start = index + mark.length;
      return inflateSync(pdf.subarray(start, text.indexOf('endstream', start))).toString('latin1');
    })
    .join('\n');
}

/** Returns the non-empty text lines of the PDF, from top to bottom. */
function linesOf(pdf: Buffer): string[] {
  return [...contentOf(pdf).matchAll(/<([0-9A-F]*)> Tj/g)]
    .map(([, hex = '']) => Buffer.from(hex, 'hex').toString('latin1'))
    .filter((line) => line !== '');
}
