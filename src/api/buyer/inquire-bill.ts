import Joi from 'joi';
import { named } from '../named.js';
import { inquireBill } from '../../bills/inquire-bill.js';
import { customerNumber, productCode } from '../fields.js';
import { defineOperation } from '../operation.js';

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
  summary: 'Ask for a postpaid bill',
  description: 'The answer stands until the end of the business day; a payment of the same bill uses it.',
  body: Joi.object<Body>({ code: productCode.required(), customer_number: customerNumber.required() }),
  data: named(
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
  failures: [404, 409, 422, 503],
  async handle({ account, body }) {
    const quote = await inquireBill({
      account,
      productCode: body.code,
      customerNumber: body.customer_number,
    });
    return {
      data: {
        customer_number: quote.customerNumber,
        customer_name: quote.customerName,
        bill_period: quote.billPeriod,
        total_bill: quote.totalBill,
        admin_fee: quote.adminFee,
        total_amount: quote.totalAmount,
      },
    };
  },
});
