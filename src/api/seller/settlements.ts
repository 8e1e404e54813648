import Joi from 'joi';
import { nameSchema, timestamp, refId, rupiah, text, zoneQuery, type ZoneQuery } from '../contract/fields.js';
import { presentSettlementFigures } from '../../settlements/settlement-events.js';
import { type Settlement, settlements } from '../../settlements/settlement.model.js';
import { formatIsoTime } from '../../shared/business-time.js';
import { getWallet } from '../../money/wallets/wallet-balance.js';
import { defineOperation } from '../contract/operation.js';
import { limits } from '../../../config/limits.js';
import { requestSettlement as request } from '../../settlements/request-settlement.js';
import { say } from '../../shared/say.js';
import { label, toJoiMessages } from '../language/joi-messages.js';
import { findMajorityHeld } from '../../database/find-confirmed.js';
import { NotFoundError } from '../../shared/errors.js';
import { findDocumentPage } from '../../database/document-page.js';
import {
  buildListFilterSchema,
  nextCursor,
  buildPageQuery,
  type ListFilter,
} from '../contract/list-queries.js';

/** A settlement as its seller sees it (docs/reference/api/settlements.md). */
export const settlementData = nameSchema(
  'Settlement',
  Joi.object({
    settlement_id: Joi.string().required(),
    ref_id: Joi.string().allow(null).required(),
    amount: Joi.number().required(),
    fee: Joi.number().required(),
    net_amount: Joi.number().required(),
    status: Joi.string().valid('pending', 'processing', 'completed', 'failed').required(),
    needs_approval: Joi.boolean()
      .required()
      .description(
        'True if the operator must approve it: a new bank account, or a change of key, secret, URL or allowlist in the last day.',
      ),
    reason: Joi.string().allow(null).required().description('Why it failed; null if it did not.'),
    estimated_completion: timestamp.required(),
  }),
);

export function presentSettlement(settlement: Settlement, zone?: string) {
  return {
    ...presentSettlementFigures(settlement),
    status: settlement.status,
    needs_approval: settlement.needsApproval,
    reason: settlement.reason,
    estimated_completion: formatIsoTime(settlement.estimatedCompletion, zone),
  };
}

export const getSellerBalance = defineOperation({
  id: 'getSellerBalance',
  method: 'get',
  needs: 'trade',
  path: '/api/seller/balance',
  role: 'seller',
  tag: 'Seller',
  summary: 'Available balance and pending settlements',
  description:
    'balance: money from sales that can be withdrawn. pending_settlement: withdrawals that are not paid out yet.',
  data: Joi.object({
    balance: Joi.number().required(),
    pending_settlement: Joi.number().required(),
    currency: Joi.string().valid('IDR').required(),
  }),
  async handle({ account }) {
    const wallet = await getWallet(account._id);
    return { data: { balance: wallet.balance, pending_settlement: wallet.held, currency: 'IDR' } };
  },
});

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
    'The amount leaves the balance at once. The bank account receives `net_amount` = amount − fee. The ' +
    'webhook settlement.completed reports the payout. A settlement that fails returns the whole amount. ' +
    'Without ref_id, the same request is refused with 409 for a minute after a 503.',
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

interface Params {
  id: string;
}

export const getSettlement = defineOperation<unknown, Params, ZoneQuery>({
  id: 'getSettlement',
  method: 'get',
  needs: 'trade',
  path: '/api/seller/settlements/:id',
  role: 'seller',
  tag: 'Seller',
  summary: 'Current state of a settlement',
  description: 'Use it if no webhook arrived. completed and failed are final.',
  params: Joi.object<Params>({ id: text(64).required() }),
  query: zoneQuery,
  data: settlementData,
  failures: [404],
  async handle({ account, params, query }) {
    const [settlement] = await findMajorityHeld(settlements, { _id: params.id, accountId: account._id });
    if (!settlement) {
      throw new NotFoundError(say('noSettlement', { id: params.id }));
    }
    return { data: presentSettlement(settlement, query.tz) };
  },
});

const statuses = ['pending', 'processing', 'completed', 'failed'] as const;

export const listSettlements = defineOperation<unknown, unknown, ListFilter<(typeof statuses)[number]>>({
  id: 'listSettlements',
  method: 'get',
  needs: 'trade',
  path: '/api/seller/settlements',
  role: 'seller',
  tag: 'Seller',
  summary: 'Your settlements, newest first',
  description: 'Dates are whole days in business time, both ends included. Without dates: all settlements.',
  query: buildListFilterSchema(statuses),
  data: Joi.object({
    settlements: Joi.array()
      .items(
        nameSchema(
          'SettlementInList',
          settlementData.keys({
            created_at: timestamp.required(),
            completed_at: timestamp.allow(null).required(),
          }),
        ),
      )
      .required(),
    next_cursor: nextCursor,
  }),
  conditional: true,
  async handle({ account, query }) {
    const { found, next } = await findDocumentPage(
      settlements,
      ...buildPageQuery<Settlement>(account._id, query),
    );
    return {
      data: {
        settlements: found.map((each) => ({
          ...presentSettlement(each, query.tz),
          created_at: formatIsoTime(each.createdAt, query.tz),
          completed_at:
            each.status === 'completed' && each.finalAt ? formatIsoTime(each.finalAt, query.tz) : null,
        })),
        next_cursor: next,
      },
    };
  },
});
