import { getHttpStatus } from '../http/http-status.js';
import Joi from 'joi';
import { env } from '../../../config/env.js';
import { limits } from '../../../config/limits.js';
import { AppError, MaintenanceError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import { logger } from '../../shared/logger.js';
import { waitForFinalState } from '../../purchases/wait-for-final-state.js';
import { type PurchaseRequest, createPurchase } from '../../purchases/accept/accept-purchase.js';
import { bindSign } from '../../purchases/accept/sign-bindings.js';
import type { Purchase } from '../../purchases/purchase.model.js';
import { normalizeCustomerNumber } from '../../products/customer-number.js';
import { findProduct } from '../../products/read-products.js';
import { customerNumber, productCode, newRefId } from '../contract/fields.js';
import { failWhenMongoIsDown } from '../http/mongo-timeout.js';
import { presentResellerPurchase } from './present-purchase.js';
import { defineResellerOperation, type ResellerResponse } from './reseller-operation.js';
import { label, toJoiMessages } from '../language/joi-messages.js';

interface Query {
  code: string;
  customer: string;
  ref_id: string;
  max_price?: number;
}

const maxPriceText = Joi.string()
  .max(16)
  .pattern(/^\d{1,16}$/)
  .custom((value: string, helpers) =>
    Number(value) <= limits.moneyMax ? Number(value) : helpers.error('string.pattern.base'),
  )
  .messages(toJoiMessages({ 'string.pattern.base': say('wholeRupiah', label) }))
  .description('Refuse (01) if the price is higher now. Rupiah.');

export const createResellerRequest = defineResellerOperation<Query>({
  id: 'createResellerRequest',
  path: '/api/reseller/request',
  summary: 'Buy a prepaid product',
  description:
    'sign: HMAC-SHA256(api_key, "username|code|customer|ref_id"), or md5(username + api_key + ref_id). ' +
    'Waits a few seconds for the serial number. Repeat the same call to check the status: 05 while it is in ' +
    'progress, 00 with the sn, or 01 with the reason.',
  query: Joi.object<Query>({
    code: productCode.required(),
    customer: customerNumber.required(),
    ref_id: newRefId.required(),
    max_price: maxPriceText,
  }),
  answer: {
    ref_id: Joi.string().required(),
    sn: Joi.string().allow(null).required(),
    transaction_status: Joi.string().valid('pending', 'success', 'failed').required(),
  },
  otherAnswer: {
    ref_id: Joi.string(),
    sn: Joi.string().allow(null),
    transaction_status: Joi.string().valid('pending', 'failed'),
  },
  signed: ({ code = '', customer = '', ref_id = '' }) => ({
    md5Covers: ref_id,
    hmacCovers: `${code}|${customer}|${ref_id}`,
  }),
  async onRefused({ account, query, signedBy }) {
    if (signedBy === 'md5') {
      const { code = '', customer = '', ref_id = '' } = query;
      await failWhenMongoIsDown(bindRefusedSign({ accountId: account._id, code, customer, ref: ref_id }));
    }
  },
  async handle({ account, query, signedBy, requestId }) {
    const request: PurchaseRequest = {
      account,
      surface: 'reseller',
      productCode: query.code,
      customerNumber: query.customer,
      refId: query.ref_id,
      maxPrice: query.max_price,
      signedBy,
      requestId,
    };
    const accepted = await failWhenMongoIsDown(createPurchase(request)).catch((error: unknown) =>
      buildUnknownOutcomeResponse(error, request),
    );
    if ('status' in accepted) {
      return accepted;
    }
    const { purchase, created } = accepted;
    return presentResellerPurchase(created ? await waitForFinalStatus(purchase) : purchase, created);
  },
});

/**
 * Binds the sign of a refused call to its order. An invalid code or customer number is bound
 * unchanged. An invalid ref_id needs no binding, because no purchase can have it.
 */
async function bindRefusedSign(sent: { accountId: string; code: string; customer: string; ref: string }) {
  const { accountId, code, customer, ref } = sent;
  if (newRefId.validate(ref).error) {
    return;
  }
  const product = productCode.required().validate(code).error ? null : await findProduct(code);
  const normalized = normalizeCustomerNumber(product?.customerNumber.kind, customer);
  await bindSign({ accountId, refId: ref, productCode: code, customerNumber: normalized });
}

/**
 * Responds 05 if the outcome of the purchase is unknown, so that the reseller's engine repeats the
 * call with the same ref_id. After a failure code, the engine would buy from another supplier, and
 * the customer would get the product twice.
 */
function buildUnknownOutcomeResponse(
  error: unknown,
  { refId: ref, requestId }: Pick<PurchaseRequest, 'refId' | 'requestId'>,
): ResellerResponse {
  if (error instanceof MaintenanceError || (error instanceof AppError && getHttpStatus(error) < 500)) {
    throw error;
  }
  logger.error('reseller purchase has an unknown outcome', { requestId, error });
  return { status: '05', message: say('recovering'), ref_id: ref, sn: null };
}

async function waitForFinalStatus(purchase: Purchase): Promise<Purchase> {
  const waitMs = env.RESELLER_SYNC_WAIT_MS;
  return (waitMs > 0 ? await waitForFinalState(purchase, waitMs) : null) ?? purchase;
}
