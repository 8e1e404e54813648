import { DateTime } from 'luxon';
import { env } from '../../config/env.js';
import { toChargedBill } from '../bills/quotes.js';
import { QuoteModel, type Quote } from '../bills/quote.model.js';
import { ConflictError, ValidationError } from '../shared/errors.js';
import { isLatin1 } from '../shared/printable.js';
import { say, type MessageKey } from '../shared/say.js';
import { formatEnergy, formatToken, parsePlnToken } from './pln-token.js';
import type { Purchase, PurchaseStatus } from './purchase.model.js';

export interface ReceiptOptions {
  language: 'id' | 'en';
  /** Name of the shop. */
  title: string | null;
  /** Rupiah that the customer paid to the shop. Null if not given. */
  soldPrice: number | null;
}

export interface ReceiptLine {
  text: string;
  isBold?: boolean;
  isLarge?: boolean;
  isCentred?: boolean;
}

const receiptLabels = {
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
    meter: 'Stand meter',
    penalty: 'Termasuk denda',
    bill: 'Tagihan',
    admin: 'Biaya admin',
    total: 'Total',
    price: 'Harga',
    sn: 'SN',
    token: 'TOKEN',
    energy: 'Jumlah kWh',
    thanks: 'Terima kasih',
    missing: '? = huruf yang tidak dapat dicetak. Teks lengkap ada di data transaksi.',
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
    meter: 'Meter reading',
    penalty: 'Including a penalty of',
    bill: 'Bill',
    admin: 'Admin fee',
    total: 'Total',
    price: 'Price',
    sn: 'SN',
    token: 'TOKEN',
    energy: 'kWh',
    thanks: 'Thank you',
    missing: '? = a character that cannot be printed. The transaction has the full text.',
  },
};

/** Reasons by status. A purchase under review is PROCESSING, because its outcome is not known. */
const noReceiptReasons = {
  PENDING: 'receiptNotYet',
  PROCESSING: 'receiptNotYet',
  FAILED: 'noReceiptFailed',
  REFUNDED: 'noReceiptReversed',
} as const satisfies Record<Exclude<PurchaseStatus, 'SUCCESS'>, MessageKey>;

/**
 * Builds the lines of a receipt. They never show what the shop paid, except for the amounts of the
 * bill itself.
 * @throws ConflictError (409/01) if the purchase is not SUCCESS.
 * @throws ValidationError if `soldPrice` is lower than the bill.
 */
export async function buildReceiptLines(purchase: Purchase, wishes: ReceiptOptions): Promise<ReceiptLine[]> {
  if (purchase.status !== 'SUCCESS') {
    throw new ConflictError(say(noReceiptReasons[purchase.status], { ref: purchase.refId }), {
      reason: 'receipt_not_available',
    });
  }
  const labels = receiptLabels[wishes.language];
  // After payment, a quote changes only by masking. It is majority-committed with its purchase. So
  // a plain read is enough.
  const quote =
    purchase.quoteId === null
      ? null
      : await QuoteModel.findOne({ _id: purchase.quoteId, accountId: purchase.accountId }).lean<Quote>();
  const at = DateTime.fromJSDate(purchase.finalAt ?? purchase.createdAt, { zone: env.BUSINESS_TIMEZONE });
  const lines: ReceiptLine[] = [
    { text: wishes.title ?? '', isBold: true, isCentred: true },
    { text: purchase.kind === 'postpaid' ? labels.payment : labels.purchase, isCentred: true },
    { text: '' },
    ...buildFactLines([
      [labels.time, at.setLocale('id').toFormat('dd-MM-yyyy HH:mm ZZZZ')],
      [labels.ref, purchase.refId],
      [labels.id, purchase._id],
      [labels.product, purchase.productName],
      [labels.customer, purchase.customerNumber],
      [labels.name, quote?.customerName ?? null],
    ]),
    ...(quote ? buildFactLines(listBillFacts(quote, labels)) : []),
    ...buildProofLines(purchase, wishes.language),
    { text: '' },
    ...buildAmountLines(quote, wishes.soldPrice, labels),
    { text: '' },
    { text: labels.thanks, isCentred: true },
  ];
  const isWhole = lines.every(({ text }) => isLatin1(text));
  return isWhole ? lines : [...lines, { text: '' }, { text: labels.missing }];
}

type ReceiptLabels = (typeof receiptLabels)['id'];

/** Every month of the bill is shown. A period that was not understood is shown as it was written. */
function listBillFacts(
  { billPeriod, details }: Quote,
  labels: ReceiptLabels,
): [label: string, value: string | number | null][] {
  const { periods = [], periodText, tariff, power, penalty, sheetDetails = [] } = details ?? {};
  const first = sheetDetails.find(({ meterStart }) => meterStart !== undefined)?.meterStart;
  const last = sheetDetails.findLast(({ meterEnd }) => meterEnd !== undefined)?.meterEnd;
  const months = periods.length > 0 ? periods.join(', ') : billPeriod;
  return [
    [labels.period, periodText ?? months],
    [labels.power, [tariff, power].filter(Boolean).join('/') || null],
    [labels.meter, first !== undefined && last !== undefined ? `${first} - ${last}` : null],
    [labels.penalty, penalty !== undefined && penalty > 0 ? penalty : null],
  ];
}

function buildProofLines(
  { subcategory, serialNumber }: Purchase,
  language: keyof typeof receiptLabels,
): ReceiptLine[] {
  const labels = receiptLabels[language];
  const token = parsePlnToken(serialNumber ?? '');
  const grouped = formatToken({ subcategory, serialNumber: token?.token ?? serialNumber });
  if (subcategory !== 'pln' || grouped === null || !/^[\d-]{24}$/.test(grouped)) {
    return buildFactLines([[labels.sn, serialNumber]]);
  }
  return [
    ...buildFactLines([
      [labels.name, token?.customerName ?? null],
      [labels.power, token ? `${token.tariff}/${token.power}` : null],
      [labels.energy, token ? formatEnergy(token.kwh, language) : null],
    ]),
    { text: '' },
    { text: labels.token, isCentred: true },
    { text: grouped, isLarge: true },
  ];
}

/** For a bill, shows the biller's amount. The rest of the customer's price is the shop's fee. */
function buildAmountLines(
  quote: Quote | null,
  soldPrice: number | null,
  labels: ReceiptLabels,
): ReceiptLine[] {
  if (!quote || quote.totalBill === null) {
    return buildFactLines([[labels.price, soldPrice]], { isBold: true });
  }
  if (soldPrice !== null && soldPrice < quote.totalBill) {
    throw new ValidationError([
      {
        field: 'sold_price',
        message: say('soldPriceBelowBill', { label: 'sold_price', bill: quote.totalBill }),
      },
    ]);
  }
  const total = soldPrice ?? toChargedBill(quote).totalAmount ?? quote.totalBill;
  return [
    ...buildFactLines([
      [labels.bill, quote.totalBill],
      [labels.admin, total < quote.totalBill ? null : total - quote.totalBill],
    ]),
    ...buildFactLines([[labels.total, total]], { isBold: true }),
  ];
}

function buildFactLines(
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
