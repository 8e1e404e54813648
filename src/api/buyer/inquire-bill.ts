import Joi from 'joi';
import { nameSchema, customerNumber, productCode } from '../contract/fields.js';
import { checkMeter } from '../../bills/check-meter.js';
import { toChargedBill } from '../../bills/quotes.js';
import { inquireBill, type OpenQuote } from '../../bills/inquire-bill.js';
import { findProduct } from '../../products/read-products.js';
import { isElectricityToken } from '../../products/customer-number.js';
import type { BillDetails } from '../../providers/adapter.js';
import { defineOperation } from '../contract/operation.js';

interface Body {
  code: string;
  customer_number: string;
}

const billDetails = nameSchema(
  'BillDetails',
  Joi.object({
    periods: Joi.array().items(Joi.string()).description('All months of the bill, oldest first.'),
    period_text: Joi.string().description('The period as the provider writes it, if it is not understood.'),
    tariff: Joi.string(),
    power: Joi.string(),
    sheets: Joi.number().description('Number of unpaid months or instalments.'),
    penalty: Joi.number(),
    sheet_details: Joi.array().items(
      Joi.object({
        period: Joi.string(),
        amount: Joi.number(),
        penalty: Joi.number(),
        meter_start: Joi.string(),
        meter_end: Joi.string(),
      }),
    ),
  }).description('Facts about the bill. A fact is absent if the provider does not state it.'),
);

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
        bill_period: Joi.string()
          .allow(null)
          .required()
          .example('2024-03')
          .description(
            'Newest month of the bill. Null if the provider writes no month that the service understands.',
          ),
        total_bill: Joi.number().required(),
        admin_fee: Joi.number().required(),
        total_amount: Joi.number().required(),
        details: billDetails,
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
    ...(quote.details && { details: presentDetails(quote.details) }),
  };
}

/** The admin fee of a sheet is not shown, because a comparison would reveal the markup. */
function presentDetails({ periodText, sheetDetails, ...details }: BillDetails) {
  return {
    ...details,
    ...(periodText !== undefined && { period_text: periodText }),
    ...(sheetDetails && {
      sheet_details: sheetDetails.map(({ meterStart, meterEnd, ...sheet }) => ({
        ...sheet,
        ...(meterStart !== undefined && { meter_start: meterStart }),
        ...(meterEnd !== undefined && { meter_end: meterEnd }),
      })),
    }),
  };
}
