import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import type { Role } from '../../accounts/account.model.js';
import type { DeliveryEvent, DeliveryState } from '../../webhooks/delivery.model.js';
import { listDeliveries } from '../../webhooks/list-deliveries.js';
import { caseless, pagination, refId, tz, wholeNumber } from '../fields.js';
import { defineOperation, type AnyOperation } from '../operation.js';
import { deliveryData, presentDelivery } from './delivery-data.js';
import { endpointId } from './endpoint-data.js';
import { buildRoleFields } from '../call-of-role.js';

interface Query {
  status?: DeliveryState;
  event?: DeliveryEvent;
  ref_id?: string;
  endpoint_id?: string;
  page: number;
  limit: number;
  tz?: string;
}

const query = Joi.object<Query>({
  status: caseless(['due', 'delivered', 'dead', 'held', 'dropped']),
  event: caseless([
    'transaction.pending',
    'transaction.success',
    'transaction.failed',
    'settlement.completed',
    'settlement.failed',
    'deposit.completed',
    'config.updated',
    'webhook.disabled',
    'ping',
    'callback.wallet',
    'callback.reseller',
  ]),
  ref_id: refId,
  endpoint_id: endpointId,
  page: wholeNumber({ max: 1_000_000, standard: limits.pageDefault }),
  limit: wholeNumber({ max: limits.pageSizeMax, standard: limits.pageSizeDefault }),
  tz,
});

export function listDeliveriesFor(role: Role): AnyOperation {
  return defineOperation<unknown, unknown, Query>({
    ...buildRoleFields(role, { name: (who) => `list${who}Deliveries`, path: '/webhooks/deliveries' }),
    method: 'get',
    needs: 'trade',
    summary: 'Webhooks and callbacks with every attempt, newest first',
    description:
      'Why did it not arrive? Each attempt shows the HTTP status, the first bytes of the answer and the error.',
    query,
    data: Joi.object({
      deliveries: Joi.array().items(deliveryData).required(),
      pagination: pagination.required(),
    }),
    async handle({ account, query: { status, event, ref_id, endpoint_id, page, limit, tz: zone } }) {
      const { rows, total } = await listDeliveries({
        accountId: account._id,
        state: status?.toLowerCase() as DeliveryState | undefined,
        event: event?.toLowerCase() as DeliveryEvent | undefined,
        refId: ref_id,
        endpointId: endpoint_id,
        page,
        limit,
      });
      return {
        data: {
          deliveries: rows.map((row) => presentDelivery(row, zone)),
          pagination: { page, limit, total, total_pages: Math.ceil(total / limit) },
        },
      };
    },
  });
}
