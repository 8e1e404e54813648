import Joi from 'joi';
import { nameSchema, customerNumber, productCode } from '../contract/fields.js';
import { checkMeter } from '../../bills/check-meter.js';
import { toChargedBill } from '../../bills/quotes.js';
import { inquireBill, type OpenQuote } from '../../bills/inquire-bill.js';
import { findProduct } from '../../products/read-products.js';
import { isElectricityToken } from '../../products/customer-number.js';
import { defineOperation } from '../contract/operation.js';

interface Body {
  code: string;
  customer_number: string;
}

export const inquireBuyerBill = defineOperation<Body>({
  id: 'inquireBill',
  method: 'post',
  needs: 'trade',
  path: '/api/buyer/inquiry',
  role: 'buyer',
  tag: 'Buyer',
  summary: 'Inquire a postpaid bill, or check the owner of a prepaid meter',
  description:
    'A bill is valid until the end of the business day, and a payment of the same bill uses it. With the code of a ' +
    'PLN token it checks the owner before a purchase. The check makes no quote and moves no money.',
  body: Joi.object<Body>({ code: productCode.required(), customer_number: customerNumber.required() }),
  data: Joi.alternatives(
    nameSchema(
      'Bill',
      Joi.object({
        customer_number: Joi.string().required(),
        customer_name: Joi.string().required(),
        bill_period: Joi.string().required().example('2024-03'),
        total_bill: Joi.number().required(),
        admin_fee: Joi.number().required(),
        total_amount: Joi.number().required(),
      }),
    ),
    nameSchema(
      'Meter',
      Joi.object({
        customer_number: Joi.string().required(),
        customer_name: Joi.string().required(),
        power: Joi.string()
          .allow(null)
          .required()
          .example('R1 / 900 VA')
          .description('Tariff and power as the provider writes them.'),
      }),
    ),
  ).match('one'),
  failures: [404, 409, 422, 503],
  async handle({ account, body }) {
    const product = await findProduct(body.code);
    if (product && isElectricityToken(product)) {
      const meter = await checkMeter(account._id, { product, meterNumber: body.customer_number });
      return {
        data: {
          customer_number: body.customer_number,
          customer_name: meter.customerName,
          power: meter.power,
        },
      };
    }
    const quote = await inquireBill({
      account,
      productCode: body.code,
      customerNumber: body.customer_number,
    });
    return { data: presentBill(quote) };
  },
});

function presentBill(quote: OpenQuote) {
  const { adminFee, totalAmount } = toChargedBill(quote);
  return {
    customer_number: quote.customerNumber,
    customer_name: quote.customerName,
    bill_period: quote.billPeriod,
    total_bill: quote.totalBill,
    admin_fee: adminFee,
    total_amount: totalAmount,
  };
}
