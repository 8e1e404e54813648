import Joi from 'joi';
import { timestamp, nameSchema } from '../../api/contract/fields.js';
import { formatToken } from '../../purchases/pln-token.js';
import { describePurchase, type PurchaseDescription } from '../../purchases/review/describe-purchase.js';
import { reviewOutcomes } from '../../purchases/review/review-decisions.js';
import { lookUp } from '../../shared/collections.js';
import { redactUrlSecrets } from '../../shared/mask.js';
import { defineConsoleOperation, idParams, requiredObject } from '../api/console-operation.js';
import { deliveryData, presentDelivery, redactUrls } from '../webhooks/deliveries.js';
import { presentPurchase, purchaseData } from './present-purchase.js';
import { requireAccount } from '../../accounts/find-account.js';
import { presentBuyerTransaction, presentWalletTransaction } from '../../api/contract/resources.js';
import { presentResellerPurchase } from '../../api/reseller/present-purchase.js';
import { findMajorityHeld } from '../../database/find-confirmed.js';
import type { Purchase } from '../../purchases/purchase.model.js';
import { requirePurchase } from '../../purchases/find-purchase.js';

const nullableText = Joi.string().allow(null);

const orderData = nameSchema(
  'ProviderOrder',
  requiredObject({
    reference: Joi.string(),
    seller: Joi.string(),
    provider: Joi.string(),
    address: nullableText,
    sent_product: Joi.string(),
    sent_customer_number: Joi.string(),
    price: Joi.number(),
    status: Joi.string().valid('SENT', 'UNKNOWN', 'OK', 'REJECTED'),
    code: nullableText,
    message: nullableText,
    serial_number: nullableText,
    checks: Joi.number(),
    sent_at: timestamp.allow(null),
    last_check_at: timestamp.allow(null),
  }),
);

const descriptionData = requiredObject({
  purchase: purchaseData,
  kind: Joi.string().valid('prepaid', 'postpaid'),
  surface: Joi.string().valid('wallet', 'buyer', 'reseller'),
  markup: Joi.number().description(
    "Part of the price above the seller's price, in rupiah. The commission includes it.",
  ),
  commission: Joi.number().allow(null),
  request_id: nullableText,
  trace_id: nullableText,
  review_since: timestamp.allow(null),
  review_reason: nullableText,
  next_action_at: timestamp.allow(null),
  decisions: Joi.array().items(Joi.string().valid(...reviewOutcomes)),
  timeline: Joi.array().items(
    requiredObject({
      at: timestamp,
      what: Joi.string().valid('state', 'journal', 'attempt', 'delivery', 'case', 'operator'),
      detail: Joi.string(),
    }),
  ),
  orders: Joi.array().items(orderData),
  deliveries: Joi.array().items(deliveryData),
  cases: Joi.array().items(
    requiredObject({
      id: Joi.string(),
      kind: Joi.string(),
      detail: Joi.string(),
      resolved_at: timestamp.allow(null),
    }),
  ),
});

export const getPurchase = defineConsoleOperation<unknown, { id: string }>({
  id: 'getPurchase',
  method: 'get',
  path: '/purchases/:id',
  action: 'purchase.look',
  summary: 'One purchase, its history in order, and the decisions that are possible now',
  params: idParams,
  data: descriptionData,
  handle: async ({ params: { id } }) => presentDescription(await describePurchase(id)),
});

function presentDescription(found: PurchaseDescription) {
  const { purchase, usernames, orders, deliveries, cases, timeline, decisions } = found;
  const nameOf = (id: string) => lookUp(usernames, id) ?? id;
  return {
    purchase: presentPurchase(purchase, usernames),
    kind: purchase.kind,
    surface: purchase.surface,
    markup: purchase.markup ?? 0,
    commission: purchase.commissionAmount,
    request_id: purchase.requestId ?? null,
    trace_id: purchase.traceId ?? null,
    review_since: toIsoOrNull(purchase.reviewSince),
    review_reason: purchase.reviewReason ?? null,
    next_action_at: toIsoOrNull(purchase.nextActionAt),
    decisions,
    timeline: timeline.map(({ at, what, detail }) => ({
      at: at.toISOString(),
      what,
      detail: redactUrlSecrets(detail),
    })),
    orders: orders.map((order) => ({
      reference: order._id,
      seller: nameOf(order.sellerId),
      provider: order.providerKind,
      address: order.providerBaseUrl ? redactUrlSecrets(order.providerBaseUrl) : null,
      sent_product: purchase.productCode,
      sent_customer_number: purchase.customerNumber,
      price: order.offerPrice,
      status: order.status,
      code: order.code,
      message: redactUrls(order.message),
      serial_number: formatToken({ subcategory: purchase.subcategory, serialNumber: order.serialNumber }),
      checks: order.checks,
      sent_at: toIsoOrNull(order.sentAt),
      last_check_at: toIsoOrNull(order.lastCheckAt),
    })),
    deliveries: deliveries.map((each) => presentDelivery(each, nameOf(each.accountId))),
    cases: cases.map(({ _id, kind, detail, resolvedAt }) => ({
      id: _id,
      kind,
      detail,
      resolved_at: toIsoOrNull(resolvedAt),
    })),
  };
}

function toIsoOrNull(at: Date | null): string | null {
  return at?.toISOString() ?? null;
}

/**
 * Returns a purchase in the form that its buyer's API call would return now, so that support can
 * compare responses with the customer.
 */
export const getCustomerView = defineConsoleOperation<unknown, { id: string }>({
  id: 'asCustomerSees',
  method: 'get',
  path: '/purchases/:id/as-customer-sees',
  action: 'purchase.look',
  summary: 'A purchase as the API returns it to its buyer now, on the surface where it was bought',
  params: idParams,
  data: requiredObject({
    call: Joi.string().description('Method and path.'),
    answer: Joi.string().description('Its JSON body, as described in docs/reference/api/conventions.md.'),
  }),
  async handle({ params: { id } }) {
    const { call, answer } = await buildCustomerResponse(
      await requirePurchase(id, { find: findMajorityHeld }),
    );
    return { call, answer: JSON.stringify(answer, null, 2) };
  },
});

async function buildCustomerResponse(purchase: Purchase): Promise<{ call: string; answer: object }> {
  const envelope = (data: object) => ({ status: 'success', code: '00', data });
  switch (purchase.surface) {
    case 'wallet':
      return {
        call: `GET /v1/transactions/${purchase._id}`,
        answer: envelope(presentWalletTransaction(purchase)),
      };
    case 'buyer':
      return {
        call: `GET /api/buyer/transactions/${purchase.refId}`,
        answer: envelope(presentBuyerTransaction(purchase)),
      };
    case 'reseller': {
      // On the reseller surface, a client checks the status by repeating the call.
      const { language = 'en' } = await requireAccount(purchase.accountId);
      const answer = presentResellerPurchase(purchase, false);
      return {
        call: `GET /api/reseller/request?ref_id=${purchase.refId}`,
        answer: { ...answer, message: answer.message[language] },
      };
    }
  }
}
