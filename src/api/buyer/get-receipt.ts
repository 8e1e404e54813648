import { Readable } from 'node:stream';
import Joi from 'joi';
import { findPurchase } from '../../purchases/find-purchase.js';
import { buildReceiptLines } from '../../purchases/receipt-lines.js';
import { say } from '../../shared/say.js';
import { text, wholeNumber } from '../contract/fields.js';
import { defineOperation } from '../contract/operation.js';
import { label, toJoiMessages } from '../language/joi-messages.js';

interface Params {
  ref: string;
}

interface Query {
  width: '58' | '80';
  lang: 'id' | 'en';
  title?: string;
  sold_price?: number;
}

const titleMax = 40;
const soldPriceMax = 999_999_999;

/** The PDF library is imported with the first receipt, because no other call needs it. */
export const getReceipt = defineOperation<unknown, Params, Query>({
  id: 'getReceipt',
  method: 'get',
  needs: 'trade',
  path: '/api/buyer/transactions/:ref/receipt',
  role: 'buyer',
  tag: 'Buyer',
  summary: 'The receipt (struk) of a transaction for the customer, as PDF',
  description:
    'By your ref_id or our transaction_id. Only a success has a receipt. It does not show your balance, and no ' +
    'price except `sold_price` and the amounts of a bill.',
  params: Joi.object<Params>({ ref: text(64).required() }),
  query: Joi.object<Query>({
    width: Joi.string().valid('58', '80').default('58').description('Width of the paper in mm.'),
    lang: Joi.string().valid('id', 'en').default('id'),
    title: text(titleMax)
      .min(1)
      .pattern(/^[\u0020-\u007e\u00a0-\u00ff]*$/, 'latin')
      .messages(toJoiMessages({ 'string.pattern.name': say('latinText', label) }))
      .example('Toko Sari')
      .description('The name of your shop, printed at the top.'),
    sold_price: wholeNumber({ max: soldPriceMax })
      .example(22_000)
      .description('Rupiah that your customer paid.'),
  }),
  data: Joi.string(),
  file: 'bytes',
  fileTypes: ['application/pdf'],
  failures: [404, 409],
  async handle({ account, params, query }) {
    const purchase = await findPurchase(account._id, params.ref);
    const lines = await buildReceiptLines(purchase, {
      language: query.lang,
      title: query.title ?? null,
      soldPrice: query.sold_price ?? null,
    });
    const { drawReceiptPdf } = await import('../../purchases/receipt-pdf.js');
    const at = purchase.finalAt ?? purchase.createdAt;
    const pdf = await drawReceiptPdf(lines, { widthMm: Number(query.width), at });
    return {
      data: null,
      file: {
        filename: `receipt-${purchase._id}.pdf`,
        type: 'application/pdf',
        size: pdf.length,
        open: () => Readable.from([pdf], { objectMode: false }),
      },
    };
  },
});
