import Joi from 'joi';
import { refId } from '../../api/fields.js';
import { findUsernames } from '../../accounts/usernames-of.js';
import { findDocumentPage, type PageOfDocuments } from '../../database/page-of-documents.js';
import { ValidationError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import { lookUp } from '../../shared/look-up.js';
import { deliveries, type Delivery, type DeliveryState } from '../../webhooks/delivery.model.js';
import { listDeadDeliveries } from '../../webhooks/list-deliveries.js';
import { defineConsoleOperation, shape } from '../api/console-operation.js';
import { listQuery, pageFields, buildPageFilter, type ListQuery } from '../api/list-query.js';
import { deliveryData, deliveryStates, presentDelivery } from './present-delivery.js';

interface Query extends ListQuery {
  state?: DeliveryState;
  ref_id?: string;
}

export const listDeliveries = defineConsoleOperation<unknown, unknown, Query>({
  id: 'listDeliveries',
  method: 'get',
  path: '/deliveries',
  action: 'webhook.look',
  summary: 'Webhooks and callbacks of an account, newest first; without one those that were given up, of all',
  query: Joi.object<Query>({
    state: Joi.string().valid(...deliveryStates),
    ref_id: refId,
    ...listQuery,
  }),
  data: shape({ deliveries: Joi.array().items(deliveryData), ...pageFields }),
  async handle({ query }) {
    const { found, next, lookedBackTo } = await findPage(query);
    const usernames = await findUsernames(found.map(({ accountId }) => accountId));
    return {
      deliveries: found.map((each) => presentDelivery(each, lookUp(usernames, each.accountId) ?? '')),
      next,
      looked_back_to: lookedBackTo?.toISOString() ?? null,
    };
  },
});

async function findPage(query: Query): Promise<PageOfDocuments<Delivery>> {
  const { state, ref_id: wantedRef, after, limit } = query;
  const { accountId, since, until } = await buildPageFilter(query);
  if (accountId === undefined) {
    if ([since, until, wantedRef, after].some((each) => each !== undefined) || (state ?? 'dead') !== 'dead') {
      const message = 'account is needed with a filter: without one only what was given up is listed';
      throw new ValidationError([{ field: 'account', message: asWritten(message) }]);
    }
    return { found: await listDeadDeliveries(limit), next: null, lookedBackTo: null };
  }
  const also = { ...(state && { state }), ...(wantedRef !== undefined && { refId: wantedRef }) };
  return findDocumentPage(deliveries, { accountId, since, until, also }, { after, limit });
}
