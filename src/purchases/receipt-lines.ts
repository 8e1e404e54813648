import { DateTime } from 'luxon';
import { env } from '../../config/env.js';
import { chargedBill } from '../bills/charged-bill.js';
import { QuoteModel, type Quote } from '../bills/quote.model.js';
import { ConflictError, ValidationError } from '../shared/errors.js';
import { say, type MessageKey } from '../shared/say.js';
import { groupedToken, parsePlnToken } from './pln-token.js';
import type { Purchase, PurchaseStatus } from './purchase.model.js';

/** What the shop wants on the receipt of its customer. */
export interface ReceiptWishes {
  language: 'id' | 'en';
  /** Its own name. */
  title: string | null;
  /** Rupiah that the customer paid. */
  soldPrice: number | null;
}

export interface ReceiptLine {
  text: string;
  isBold?: boolean;
  isLarge?: boolean;
  isCentred?: boolean;
}

const words = {
  id: {
    purchase: 'STRUK PEMBELIAN',
    payment: 'STRUK PEMBAYARAN TAGIHAN',
    time: 'Waktu',
    ref: 'No. ref',
    id: 'ID transaksi',
    product: 'Produk',
    customer: 'No. pelanggan',
    name: 'Nama',
    power: 'Tarif/daya',
    period: 'Periode',
    bill: 'Tagihan',
    admin: 'Biaya admin',
    total: 'Total',
    price: 'Harga',
    sn: 'SN',
    token: 'TOKEN',
    energy: 'Jumlah kWh',
    thanks: 'Terima kasih',
  },
  en: {
    purchase: 'RECEIPT',
    payment: 'BILL PAYMENT RECEIPT',
    time: 'Time',
    ref: 'Ref no.',
    id: 'Transaction',
    product: 'Product',
    customer: 'Customer no.',
    name: 'Name',
    power: 'Tariff/power',
    period: 'Period',
    bill: 'Bill',
    admin: 'Admin fee',
    total: 'Total',
    price: 'Price',
    sn: 'SN',
    token: 'TOKEN',
    energy: 'kWh',
    thanks: 'Thank you',
  },
};

/** Under review it is PROCESSING: nobody knows its end yet. */
const whyNone = {
  PENDING: 'receiptNotYet',
  PROCESSING: 'receiptNotYet',
  FAILED: 'noReceiptFailed',
  REFUNDED: 'noReceiptReversed',
} as const satisfies Record<Exclude<PurchaseStatus, 'SUCCESS'>, MessageKey>;

/**
 * What stands on the receipt of a purchase: nothing of what the shop paid for it, but for the amounts of the bill itself.
 * @throws ConflictError (409/01) for a purchase that is no success. ValidationError where the shop would have sold a bill for less than it says.
 */
export async function receiptLines(purchase: Purchase, wishes: ReceiptWishes): Promise<ReceiptLine[]> {
  if (purchase.status !== 'SUCCESS') {
    throw new ConflictError(say(whyNone[purchase.status], { ref: purchase.refId }), {
      reason: 'receipt_not_available',
    });
  }
  const said = words[wishes.language];
  // Nothing but masking changes a quote that was paid, and a majority holds it with its purchase.
  const quote =
    purchase.quoteId === null
      ? null
      : await QuoteModel.findOne({ _id: purchase.quoteId, accountId: purchase.accountId }).lean<Quote>();
  const at = DateTime.fromJSDate(purchase.finalAt ?? purchase.createdAt, { zone: env.BUSINESS_TIMEZONE });
  return [
    { text: wishes.title ?? '', isBold: true, isCentred: true },
    { text: purchase.kind === 'postpaid' ? said.payment : said.purchase, isCentred: true },
    { text: '' },
    ...facts([
      [said.time, at.setLocale('id').toFormat('dd-MM-yyyy HH:mm ZZZZ')],
      [said.ref, purchase.refId],
      [said.id, purchase._id],
      [said.product, purchase.productName],
      [said.customer, purchase.customerNumber],
      [said.name, quote?.customerName ?? null],
      [said.period, quote?.billPeriod ?? null],
    ]),
    ...proof(purchase, wishes.language),
    { text: '' },
    ...amounts(quote, wishes.soldPrice, said),
    { text: '' },
    { text: said.thanks, isCentred: true },
  ];
}

type Words = (typeof words)['id'];

function proof({ subcategory, serialNumber }: Purchase, language: keyof typeof words): ReceiptLine[] {
  const said = words[language];
  const token = parsePlnToken(serialNumber ?? '');
  const grouped = groupedToken({ subcategory, serialNumber: token?.token ?? serialNumber });
  if (subcategory !== 'pln' || grouped === null || !/^[\d-]{24}$/.test(grouped)) {
    return facts([[said.sn, serialNumber]]);
  }
  return [
    ...facts([
      [said.name, token?.customerName ?? null],
      [said.power, token ? `${token.tariff}/${token.power}` : null],
      [said.energy, token ? token.kwh.toLocaleString(language, { maximumFractionDigits: 2 }) : null],
    ]),
    { text: '' },
    { text: said.token, isCentred: true },
    { text: grouped, isLarge: true },
  ];
}

/** Of a bill its own figures; what the customer paid above it is the shop's fee. */
function amounts(quote: Quote | null, soldPrice: number | null, said: Words): ReceiptLine[] {
  if (!quote || quote.totalBill === null) {
    return facts([[said.price, soldPrice]], { isBold: true });
  }
  if (soldPrice !== null && soldPrice < quote.totalBill) {
    throw new ValidationError([
      {
        field: 'sold_price',
        message: say('soldPriceBelowBill', { label: 'sold_price', bill: quote.totalBill }),
      },
    ]);
  }
  const total = soldPrice ?? chargedBill(quote).totalAmount ?? quote.totalBill;
  return [
    ...facts([
      [said.bill, quote.totalBill],
      [said.admin, total < quote.totalBill ? null : total - quote.totalBill],
    ]),
    ...facts([[said.total, total]], { isBold: true }),
  ];
}

function facts(
  all: [label: string, value: string | number | null][],
  look: Partial<ReceiptLine> = {},
): ReceiptLine[] {
  return all.flatMap(([label, value]) =>
    value === null
      ? []
      : [
          {
            ...look,
            text: `${label}: ${typeof value === 'number' ? `Rp ${value.toLocaleString('id-ID')}` : value}`,
          },
        ],
  );
}
