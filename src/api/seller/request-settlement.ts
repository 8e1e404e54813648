import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import { requestSettlement as request } from '../../settlements/request-settlement.js';
import { refId, rupiah, text } from '../fields.js';
import { defineOperation } from '../operation.js';
import { presentSettlement, settlementData } from './settlement-data.js';
import { say } from '../../shared/say.js';
import { label, toJoiMessages } from '../worded.js';

interface Body {
  amount: number;
  bank_account: { bank_code: string; account_number: string; account_name: string };
  ref_id?: string;
}

const bankAccount = Joi.object<Body['bank_account']>({
  bank_code: text(20)
    .pattern(/^[A-Za-z0-9._-]+$/)
    .required()
    .messages(toJoiMessages({ 'string.pattern.base': say('bankCodeForm', label) }))
    .example('014'),
  account_number: Joi.string()
    .max(34)
    .pattern(/^\d{5,34}$/)
    .required()
    .messages(toJoiMessages({ 'string.pattern.base': say('accountNumberForm', label) }))
    .example('1234567890'),
  account_name: text(100).min(1).required().example('PT Pulsa Jaya'),
});

export const requestSettlement = defineOperation<Body>({
  id: 'requestSettlement',
  method: 'post',
  needs: 'trade',
  path: '/api/seller/settlement/request',
  role: 'seller',
  tag: 'Seller',
  summary: 'Withdraw to a bank account',
  description:
    'The amount leaves the balance at once. `net_amount` = amount − fee arrives at the bank, and the webhook ' +
    'settlement.completed tells when. A settlement that fails returns the whole amount.',
  body: Joi.object<Body>({
    amount: rupiah({ min: limits.settlementMin, max: limits.settlementMax }).required().example(100_000),
    bank_account: bankAccount.required(),
    ref_id: refId,
  }),
  data: settlementData,
  failures: [402, 409],
  async handle({ account, body, requestId }) {
    const { settlement, created } = await request({
      account,
      amount: body.amount,
      refId: body.ref_id ?? null,
      requestId,
      bankAccount: {
        bankCode: body.bank_account.bank_code,
        accountNumber: body.bank_account.account_number,
        accountName: body.bank_account.account_name,
      },
    });
    const isFinal = settlement.status === 'completed' || settlement.status === 'failed';
    return {
      code: created || isFinal ? '00' : '05',
      message: say(created ? 'settlementRequested' : 'settlementAsItIs'),
      data: presentSettlement(settlement),
    };
  },
});
