import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import type { Role } from '../../accounts/account.model.js';
import type { DeliveryEvent, DeliveryState } from '../../webhooks/delivery.model.js';
import { listDeliveries } from '../../webhooks/list-deliveries.js';
import { pagination, refId } from '../fields.js';
import { defineOperation, type AnyOperation } from '../operation.js';
import { deliveryData, presentDelivery } from './delivery-data.js';
import { callOfRole } from '../call-of-role.js';

interface Query {
  status?: DeliveryState;
  event?: DeliveryEvent;
  ref_id?: string;
  page: number;
  limit: number;
}

/** A whole number in a query string, where every value is text. */
const wholeNumber = (bounds: { max: number; standard: number }) =>
  Joi.string()
    .pattern(/^\d{1,9}$/)
    .custom((value: string, helpers) =>
      Number(value) >= 1 && Number(value) <= bounds.max
        ? Number(value)
        : helpers.error('string.pattern.base'),
    )
    .messages({ 'string.pattern.base': `{{#label}} must be a whole number from 1 to ${bounds.max}` })
    .default(bounds.standard);

const query = Joi.object<Query>({
  status: Joi.string().valid('due', 'delivered', 'dead', 'held', 'dropped'),
  event: Joi.string().valid(
    'transaction.pending',
    'transaction.success',
    'transaction.failed',
    'settlement.completed',
    'settlement.failed',
    'deposit.completed',
    'config.updated',
    'ping',
    'callback.wallet',
    'callback.reseller',
  ),
  ref_id: refId,
  page: wholeNumber({ max: 1_000_000, standard: limits.pageDefault }),
  limit: wholeNumber({ max: limits.pageSizeMax, standard: limits.pageSizeDefault }),
});

export function listDeliveriesFor(role: Role): AnyOperation {
  return defineOperation<unknown, unknown, Query>({
    ...callOfRole(role, { name: (who) => `list${who}Deliveries`, path: '/webhooks/deliveries' }),
    method: 'get',
    summary: 'Webhooks and callbacks with every attempt, newest first',
    description:
      'Why did it not arrive? Each attempt shows the HTTP status, the first bytes of the answer and the error.',
    query,
    data: Joi.object({
      deliveries: Joi.array().items(deliveryData).required(),
      pagination: pagination.required(),
    }),
    async handle({ account, query: { status, event, ref_id, page, limit } }) {
      const { rows, total } = await listDeliveries({
        accountId: account._id,
        state: status,
        event,
        refId: ref_id,
        page,
        limit,
      });
      return {
        data: {
          deliveries: rows.map(presentDelivery),
          pagination: { page, limit, total, total_pages: Math.ceil(total / limit) },
        },
      };
    },
  });
}
